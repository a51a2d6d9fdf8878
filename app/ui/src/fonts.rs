//! Font fallback for characters that the current font lacks.

use slint::fontique_011::{fontique::GenericFamily, shared_collection};

/// The app's font family with the most characters.
const WIDEST: &str = "Qiyou Sans";

/// Makes the app's widest font the first fallback, before the system's fonts, which may have no Chinese: headings contain
/// people's names, but their font has only the app's own words. Call after a window was created.
pub(crate) fn fall_back() {
    let mut collection = shared_collection();
    let Some(widest) = collection.family_id(WIDEST) else {
        tracing::warn!("{WIDEST} was not found: names may have holes");
        return;
    };
    collection.set_generic_families(GenericFamily::SansSerif, std::iter::once(widest));
}
