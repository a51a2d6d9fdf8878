//! Versions of what XMPP elements carry: how a version that this device does not speak is recognised, and how it is answered.
//!
//! The namespace of an element ends in the number of its version. An element of a version that this device does not speak is
//! answered with the range that it does speak, in a namespace without a number, which never changes. The asker then takes the
//! newest version that both speak, or knows which of the two devices needs an update. Cards are not answered: each device's own
//! presence tells what it speaks.

use tokio_xmpp::minidom::Element;
use tokio_xmpp::minidom::rxml::NcName;

use crate::Outdated;
use crate::secure::Versions;

const NAMESPACE: &str = "urn:qiyou:versions";
const ELEMENT: &str = "versions";

/// What comes before the number in the namespaces of all versions, with the layer's word between the colons.
const PREFIX: &str = "urn:qiyou:";

/// A layer whose elements have versions. Word and element stay the same in all of them.
pub(super) struct Layer {
    /// In namespaces and in answers.
    pub(super) word: &'static str,
    /// The name of its element.
    pub(super) element: &'static str,
    /// The versions that this device speaks.
    pub(super) spoken: Versions,
}

impl Layer {
    /// Whether this device speaks this version.
    pub(super) fn speaks(&self, version: u32) -> bool {
        (u32::from(self.spoken.lowest)..=u32::from(self.spoken.highest)).contains(&version)
    }

    /// The version of an element of this layer, if it is one that this device does not speak.
    pub(super) fn other_version(&self, element: &Element) -> Option<u32> {
        let namespace = element.ns();
        let number = namespace.strip_prefix(PREFIX)?.strip_prefix(self.word)?.strip_prefix(':')?;
        let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
        if element.name() != self.element || !is_number {
            return None;
        }
        // A number that does not fit is a newer version too.
        let version = number.parse().unwrap_or(u32::MAX);
        (!self.speaks(version)).then_some(version)
    }

    /// Which device has to be updated, where the newest version that the other one speaks is none of this device's.
    pub(super) fn outdated(&self, newest_there: impl Into<u32>) -> Outdated {
        Outdated::of(newest_there, self.spoken.lowest)
    }

    /// Says that a device speaks these versions. `id`: what is answered, by the name or id that its sender gave it.
    pub(super) fn answer(&self, id: &str, versions: Versions) -> Element {
        let name = |name: &str| NcName::try_from(name).expect("letters are a name in XML");
        Element::builder(ELEMENT, NAMESPACE)
            .attr(name("of"), self.word)
            .attr(name("id"), id)
            .attr(name("lowest"), versions.lowest)
            .attr(name("highest"), versions.highest)
            .build()
    }

    /// Reads such an answer about this layer: the id, and the versions that the peer speaks. What a later version adds is ignored.
    pub(super) fn read_answer<'a>(&self, element: &'a Element) -> Option<(&'a str, Versions)> {
        if !element.is(ELEMENT, NAMESPACE) || element.attr("of") != Some(self.word) {
            return None;
        }
        let number = |name: &'static str| element.attr(name)?.parse::<u8>().ok();
        let versions = Versions { lowest: number("lowest")?, highest: number("highest")? };
        (versions.lowest <= versions.highest).then_some((element.attr("id")?, versions))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYER: Layer =
        Layer { word: "letter", element: "letter", spoken: Versions { lowest: 2, highest: 3 } };

    fn xml(text: &str) -> Element {
        text.parse().expect("XML")
    }

    #[test]
    fn a_version_that_is_not_spoken_is_known_by_its_number_whatever_is_inside() {
        for (number, version) in [
            ("0", Some(0)),
            ("1", Some(1)),
            ("2", None),
            ("3", None),
            ("03", None),
            ("4", Some(4)),
            ("4294967295", Some(u32::MAX)),
            ("99999999999999999999", Some(u32::MAX)),
            ("", None),
            ("+4", None),
            ("-1", None),
            ("4.1", None),
            ("4:1", None),
        ] {
            let element = xml(&format!("<letter xmlns='urn:qiyou:letter:{number}' a='?'><b/>text</letter>"));
            assert_eq!(LAYER.other_version(&element), version, "{number}");
        }
        for other in [
            "<q xmlns='urn:qiyou:letter:4'/>",
            "<letter xmlns='urn:qiyou:link:4'/>",
            "<letter xmlns='urn:qiyou:letters:4'/>",
            "<letter xmlns='urn:qiyou:letter4'/>",
            "<letter xmlns='urn:other:letter:4'/>",
        ] {
            assert_eq!(LAYER.other_version(&xml(other)), None, "{other}");
        }
    }

    #[test]
    fn the_device_with_the_older_versions_is_the_one_that_needs_an_update() {
        for (newest, outdated) in [(0_u8, Outdated::There), (1, Outdated::There), (4, Outdated::Here)] {
            assert_eq!(LAYER.outdated(newest), outdated, "{newest}");
        }
    }

    #[test]
    fn an_answer_comes_back_from_xml_and_what_is_added_to_it_is_ignored() {
        let spoken = Versions { lowest: 4, highest: 255 };
        let answer = String::from(&LAYER.answer("<7>", spoken));
        assert_eq!(LAYER.read_answer(&xml(&answer)), Some(("<7>", spoken)));
        let more = "<versions xmlns='urn:qiyou:versions' of='letter' id='7' lowest='4' highest='255' x='1'><y/></versions>";
        assert_eq!(LAYER.read_answer(&xml(more)), Some(("7", spoken)));
        for nonsense in [
            "<versions xmlns='urn:qiyou:versions' of='link' id='7' lowest='1' highest='1'/>",
            "<versions xmlns='urn:qiyou:versions:1' of='letter' id='7' lowest='1' highest='1'/>",
            "<version xmlns='urn:qiyou:versions' of='letter' id='7' lowest='1' highest='1'/>",
            "<versions xmlns='urn:qiyou:versions' id='7' lowest='1' highest='1'/>",
            "<versions xmlns='urn:qiyou:versions' of='letter' lowest='1' highest='1'/>",
            "<versions xmlns='urn:qiyou:versions' of='letter' id='7' highest='1'/>",
            "<versions xmlns='urn:qiyou:versions' of='letter' id='7' lowest='1'/>",
            "<versions xmlns='urn:qiyou:versions' of='letter' id='7' lowest='2' highest='1'/>",
            "<versions xmlns='urn:qiyou:versions' of='letter' id='7' lowest='1' highest='256'/>",
            "<versions xmlns='urn:qiyou:versions' of='letter' id='7' lowest='-1' highest='1'/>",
        ] {
            assert_eq!(LAYER.read_answer(&xml(nonsense)), None, "{nonsense}");
        }
    }
}
