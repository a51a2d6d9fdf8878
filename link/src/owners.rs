//! Files and folders that only their owner may read.

pub(crate) use system::{close_to_others, create_file, create_folder, open_to_others, sync_folder};

#[cfg(unix)]
mod system {
    use std::fs::{DirBuilder, File, OpenOptions, Permissions};
    use std::io;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
    use std::path::Path;

    const OWNER_ONLY: u32 = 0o600;

    /// The file's permission bits, if users other than its owner have any access.
    pub(crate) fn open_to_others(file: &File) -> io::Result<Option<u32>> {
        let mode = file.metadata()?.mode() & 0o777;
        Ok((mode & 0o077 != 0).then_some(mode))
    }

    pub(crate) fn close_to_others(file: &File) -> io::Result<()> {
        file.set_permissions(Permissions::from_mode(OWNER_ONLY))
    }

    /// Creates a folder and its missing parents.
    pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    /// Fails with `AlreadyExists` if the file exists.
    pub(crate) fn create_file(path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path)
    }

    /// Flushes the folder's entries to disk.
    pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

/// On Windows the user's own folders deny access to others, and new files inherit that.
#[cfg(not(unix))]
mod system {
    use std::fs::{self, File, OpenOptions};
    use std::io;
    use std::path::Path;

    pub(crate) fn open_to_others(_: &File) -> io::Result<Option<u32>> {
        Ok(None)
    }

    pub(crate) fn close_to_others(_: &File) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    pub(crate) fn create_file(path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    /// Windows cannot open a folder.
    pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
        Ok(())
    }
}
