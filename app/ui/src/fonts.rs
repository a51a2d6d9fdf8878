//! Which font a character comes from that the one in use does not have.

use slint::fontique_011::{fontique::GenericFamily, shared_collection};

/// The family with most characters of those that the app brings.
const WIDEST: &str = "Qiyou Sans";

/// From now on what a font lacks comes from the app's own widest one, and only then from the system's, which may have no
/// Chinese at all: people's names stand in headings, whose font has the app's own words only. Once a window was made.
pub(crate) fn fall_back() {
    let mut collection = shared_collection();
    let Some(widest) = collection.family_id(WIDEST) else {
        tracing::warn!("{WIDEST} was not found: names may have holes");
        return;
    };
    collection.set_generic_families(GenericFamily::SansSerif, std::iter::once(widest));
}
