//! Systems other than Linux: no notification of changed interfaces; the caller polls.

/// Never yields a change.
pub(super) struct Changes;

impl Changes {
    pub(super) fn listen() -> Self {
        Self
    }

    pub(super) fn are_told(&self) -> bool {
        false
    }

    pub(super) async fn next(&mut self) {
        std::future::pending().await
    }
}
