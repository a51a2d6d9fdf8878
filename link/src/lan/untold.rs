//! Other systems than Linux: nobody tells of changed interfaces, and they are looked at by the clock.

/// Hears nothing.
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
