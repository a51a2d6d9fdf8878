//! Linker options of the program.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        // The generated screens contain many addresses, each of which needs a relocation of 24 bytes that is read at start
        // and stays in memory; the packed format (RELR) needs a tenth of that. Debian 12's loader supports it; a linker that
        // does not ignores the option.
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}
