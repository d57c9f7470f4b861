/** The folders of the embedded engine, and what a backup of them contains. */

export interface BackupFolders {
  /** Has the database and the secret. */
  data: string;
  files: string;
}

export interface BackupReport {
  rooms: number;
  keys: number;
  files: number;
  /** Of the files. */
  bytes: number;
  /** Files that are listed but have no bytes, because they were removed in the meantime. They are left out. */
  missing: number;
}
