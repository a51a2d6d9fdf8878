//! What a person sees and a screen reader says: every control and text of the window, by role, name, value and place.

use i_slint_backend_testing::{AccessibleRole, ElementHandle, ElementQuery};
use qiyou::App;
use qiyou::screens::{Dialog, Navigation, Page};
use slint::ComponentHandle;

/// The styles of ui/widgets/text.slint: name, family, size at 100 %.
pub(crate) const STYLES: [(&str, &str, f32); 6] = [
    ("DisplayText", "Qiyou Kai", 34.0),
    ("HeadingText", "Qiyou Kai", 24.0),
    ("TitleText", "Qiyou Kai", 20.0),
    ("SectionText", "Qiyou Sans", 20.0),
    ("BodyText", "Qiyou Sans", 16.0),
    ("SmallText", "Qiyou Sans", 13.0),
];

/// In logical pixels of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f32,
    pub(crate) top: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
}

impl Area {
    fn of(element: &ElementHandle) -> Self {
        let (at, size) = (element.absolute_position(), element.size());
        Self { left: at.x, top: at.y, width: size.width, height: size.height }
    }

    pub(crate) fn middle(self) -> (f32, f32) {
        (self.left + self.width / 2.0, self.top + self.height / 2.0)
    }

    /// What both have in common.
    pub(crate) fn common(self, other: Self) -> Self {
        let (left, top) = (self.left.max(other.left), self.top.max(other.top));
        let right = (self.left + self.width).min(other.left + other.width);
        let bottom = (self.top + self.height).min(other.top + other.height);
        Self { left, top, width: (right - left).max(0.0), height: (bottom - top).max(0.0) }
    }
}

/// One control or text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Thing {
    pub(crate) role: AccessibleRole,
    /// The component that draws it.
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) enabled: bool,
    pub(crate) on: Option<bool>,
    pub(crate) area: Area,
    /// Which scrolling area it is in.
    pub(crate) within: Option<usize>,
}

impl Thing {
    /// Whether a touch is meant for it.
    pub(crate) fn is_control(&self) -> bool {
        [
            AccessibleRole::Button,
            AccessibleRole::RadioButton,
            AccessibleRole::Switch,
            AccessibleRole::Slider,
            AccessibleRole::TextInput,
        ]
        .contains(&self.role)
    }

    /// A point of a board: as large as the board lets it be, and the board takes its touches.
    pub(crate) fn is_point(&self) -> bool {
        self.kind.ends_with("Point")
    }

    /// Its style in [`STYLES`], where it is a text.
    pub(crate) fn style(&self) -> Option<usize> {
        STYLES.iter().position(|(style, ..)| *style == self.kind)
    }

    /// Its name without numbers, which change from match to match.
    pub(crate) fn plain(&self) -> String {
        plain(&self.name)
    }
}

/// A text without its numbers.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::new();
    for letter in text.chars() {
        match letter {
            '0'..='9' if plain.ends_with('#') => {}
            '0'..='9' => plain.push('#'),
            other => plain.push(other),
        }
    }
    plain
}

/// The window at one moment: the page, or the dialog that covers it.
#[derive(Clone, Debug)]
pub(crate) struct Sight {
    pub(crate) page: Page,
    pub(crate) dialog: Dialog,
    pub(crate) things: Vec<Thing>,
    /// The scrolling areas.
    pub(crate) scrolls: Vec<Area>,
    pub(crate) window: Area,
}

impl Sight {
    pub(crate) fn of(app: &App, width: f32, height: f32) -> Self {
        let window = app.window();
        let dialogs = ElementQuery::from_root(window).match_inherits("DialogFrame").find_all();
        let seen = |query: ElementQuery| {
            query.match_predicate(|one| {
                one.accessible_role().is_some_and(|role| role != AccessibleRole::None) || is_text(one)
            })
        };
        let (all, areas) = match dialogs.last() {
            Some(dialog) => (
                seen(dialog.query_descendants()).find_all(),
                dialog.query_descendants().match_type_name("ScrollArea").find_all(),
            ),
            None => (
                seen(ElementQuery::from_root(window)).find_all(),
                ElementQuery::from_root(window).match_type_name("ScrollArea").find_all(),
            ),
        };
        let mut things: Vec<Thing> = all.iter().filter_map(thing).collect();
        for (index, area) in areas.iter().enumerate() {
            let inside: Vec<Thing> =
                seen(area.query_descendants()).find_all().iter().filter_map(thing).collect();
            let mut inside = inside.into_iter().peekable();
            // Both lists are in the order in which they are drawn.
            for one in &mut things {
                if inside.peek().is_some_and(|next| next == &Thing { within: None, ..one.clone() }) {
                    one.within = Some(index);
                    inside.next();
                }
            }
        }
        let navigation = window.global::<Navigation<'_>>();
        Self {
            page: navigation.get_page(),
            dialog: navigation.get_dialog(),
            things,
            scrolls: areas.iter().map(Area::of).collect(),
            window: Area { left: 0.0, top: 0.0, width, height },
        }
    }

    pub(crate) fn controls(&self) -> impl Iterator<Item = &Thing> {
        self.things.iter().filter(|one| one.is_control())
    }

    pub(crate) fn points(&self) -> impl Iterator<Item = &Thing> {
        self.things.iter().filter(|one| one.is_point())
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &Thing> {
        self.things.iter().filter(|one| one.style().is_some() && !one.name.is_empty())
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Thing> {
        self.controls().find(|one| one.name == name)
    }

    pub(crate) fn says(&self, words: &str) -> bool {
        self.things.iter().any(|one| one.name == words)
    }

    /// The page's or dialog's title.
    pub(crate) fn title(&self) -> String {
        let titles = ["HeadingText", "TitleText", "DisplayText"];
        let title = self.texts().find(|one| titles.contains(&one.kind.as_str()));
        title.map(Thing::plain).unwrap_or_default()
    }

    /// What of this can be touched: less than all of it where it is scrolled out of sight.
    pub(crate) fn seen(&self, thing: &Thing) -> Area {
        let within = thing.within.map_or(self.window, |index| self.scrolls[index]);
        thing.area.common(within).common(self.window)
    }

    /// For somebody who was not there.
    pub(crate) fn told(&self) -> String {
        let names: Vec<String> = (self.things.iter())
            .filter(|one| !one.is_point() && !one.name.is_empty())
            .map(|one| if one.enabled { one.name.clone() } else { format!("({})", one.name) })
            .collect();
        format!("{:?}, {:?}: {}", self.page, self.dialog, names.join(" | "))
    }
}

fn is_text(element: &ElementHandle) -> bool {
    element.type_name().is_some_and(|name| STYLES.iter().any(|(style, ..)| name == *style))
}

fn thing(element: &ElementHandle) -> Option<Thing> {
    // Only the outermost element of an item has a name; what is drawn with no strength is not there.
    if element.computed_opacity() == 0.0 {
        return None;
    }
    let text = is_text(element);
    let label = element.accessible_label();
    if label.is_none() && !text {
        return None;
    }
    Some(Thing {
        role: element.accessible_role().unwrap_or(AccessibleRole::None),
        kind: element.type_name().unwrap_or_default().into(),
        name: label.unwrap_or_default().into(),
        value: element.accessible_value().unwrap_or_default().into(),
        enabled: element.accessible_enabled() != Some(false),
        on: element.accessible_checked(),
        area: Area::of(element),
        within: None,
    })
}
