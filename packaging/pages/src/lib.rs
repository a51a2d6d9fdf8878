//! Manual pages and shell completions of Qiyou's programs, generated from their command lines.
//!
//! A program calls [`written`] first. Packaging runs it once with `QIYOU_PAGES` set to a folder, which
//! gets `NAME.1` and completions for bash, zsh and fish; they are always consistent with the program. Without the
//! variable nothing happens.
//!
//! ```
//! assert!(pages::written(|| clap::Command::new("demo").about("Shows how")).is_none());
//! ```

#![forbid(unsafe_code)]

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::Command;
use clap_complete::{Shell, generate_to};
use clap_mangen::Man;

/// Names the output folder.
const VARIABLE: &str = "QIYOU_PAGES";

/// Writes the pages of this command if `QIYOU_PAGES` is set; the program then exits with the returned code.
pub fn written(command: impl FnOnce() -> Command) -> Option<ExitCode> {
    let folder = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty())?;
    Some(match write(command(), Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", Path::new(&folder).display());
            ExitCode::FAILURE
        }
    })
}

fn write(mut command: Command, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let name = command.get_name().to_owned();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        generate_to(shell, &mut command, &name, folder)?;
    }
    fs::write(folder.join(format!("{name}.1")), page(command)?)
}

/// One page for a program with all its commands and options.
fn page(command: Command) -> io::Result<Vec<u8>> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let name = command.get_name().to_owned();
    let man = Man::new(command.clone()).title(name.to_uppercase()).manual("Qiyou");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        writeln!(page, ".SH COMMANDS")?;
        deeds(&command, "", &mut page)?;
    }
    Ok(page)
}

/// All subcommands, recursively, each as a part of the same section.
fn deeds(command: &Command, above: &str, page: &mut Vec<u8>) -> io::Result<()> {
    for deed in command.get_subcommands().filter(|deed| !deed.is_hide_set()) {
        let name = format!("{above}{}", deed.get_name());
        writeln!(page, ".SS {}", name.replace('-', r"\-"))?;
        let man = Man::new(deed.clone());
        let mut part = Vec::new();
        man.render_synopsis_section(&mut part)?;
        man.render_description_section(&mut part)?;
        if deed.get_arguments().any(|argument| !argument.is_hide_set() && !is_everywhere(argument)) {
            let own = deed.clone().mut_args(|argument| {
                let hidden = is_everywhere(&argument);
                argument.hide(hidden)
            });
            Man::new(own).render_options_section(&mut part)?;
        }
        for line in String::from_utf8_lossy(&part).lines() {
            match line {
                // Sections of a separate page become paragraphs of this one, which already has a preamble.
                heading if heading.starts_with(".SH ") => writeln!(page, ".PP")?,
                preamble if preamble.starts_with(".ie ") || preamble.starts_with(".el ") => {}
                text => writeln!(page, "{text}")?,
            }
        }
        deeds(deed, &format!("{name} "), page)?;
    }
    Ok(())
}

/// Written once, for the program.
fn is_everywhere(argument: &clap::Arg) -> bool {
    argument.is_global_set() || matches!(argument.get_id().as_str(), "help" | "version")
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;

    fn demo() -> Command {
        let loud =
            Arg::new("loud").long("loud").help("Says more").global(true).action(clap::ArgAction::SetTrue);
        let level = Arg::new("level").long("level").help("How strong to play");
        let inner = Command::new("inner-one").about("Is found within").arg(level);
        let outer = Command::new("outer").about("Holds another").subcommand(inner);
        Command::new("demo").version("1.2.3").about("Shows how").arg(loud).subcommand(outer)
    }

    #[test]
    fn a_page_tells_every_command_with_its_own_options_and_common_ones_once() {
        let page = String::from_utf8(page(demo()).expect("memory")).expect("text");
        assert!(page.lines().any(|line| line.starts_with(".TH DEMO 1")), "{page}");
        let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words} is missing: {page}"));
        assert!(at(".SH COMMANDS") < at(".SS outer\n") && at(".SS outer\n") < at(".SS outer inner\\-one\n"));
        assert_eq!(page.matches("How strong to play").count(), 1);
        assert_eq!(page.matches("Says more").count(), 1);
        assert_eq!(page.matches(".SH OPTIONS").count(), 1, "commands open no section of their own");
    }

    #[test]
    fn pages_for_three_shells_and_a_manual_are_written() {
        let folder = std::env::temp_dir().join(format!("qiyou-pages-{}", std::process::id()));
        write(demo(), &folder).expect("a folder of our own");
        let mut names: Vec<_> = fs::read_dir(&folder)
            .expect("written")
            .map(|one| one.expect("readable").file_name().into_string().expect("text"))
            .collect();
        names.sort();
        assert_eq!(names, ["_demo", "demo.1", "demo.bash", "demo.fish"]);
        for name in names {
            let text = fs::read_to_string(folder.join(&name)).expect("text");
            assert!(text.contains("inner"), "{name} knows the commands");
        }
        fs::remove_dir_all(folder).expect("our own");
    }
}
