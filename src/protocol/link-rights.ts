/** The rights of links: one table for the server, the documentation and the tests. Members, with the room code, may do everything. */

export const linkRoles = ['read', 'drop'] as const;
export type LinkRole = (typeof linkRoles)[number];

interface Right {
  /** For the documentation. */
  description: string;
  roles: readonly LinkRole[];
}

export const linkRights = {
  readRoom: { description: 'Read room information', roles: ['read', 'drop'] },
  readText: { description: 'Read the text', roles: ['read'] },
  followRoom: { description: 'Follow changes live', roles: ['read'] },
  listFiles: { description: 'List and download files', roles: ['read'] },
  addFile: { description: 'Upload files, and cancel own unfinished uploads', roles: ['drop'] },
  writeText: { description: 'Write the text', roles: [] },
  useHistory: { description: 'Read or delete the history', roles: [] },
  removeFile: { description: 'Remove and restore files', roles: [] },
  receiveFile: { description: 'Receive one-time files, which erases them', roles: [] },
  changeRoom: { description: 'Change or delete the room', roles: [] },
  manageLinks: { description: 'Create, list and revoke links', roles: [] },
  reportRoom: { description: 'Report the room to the operator', roles: ['read', 'drop'] },
  manageWebhooks: { description: 'Create, list and delete webhooks', roles: [] },
} as const satisfies Record<string, Right>;

/** The right that a request or a live message needs. */
export type RoomOperation = keyof typeof linkRights;

export const mayDo = (role: LinkRole, operation: RoomOperation): boolean =>
  (linkRights[operation].roles as readonly LinkRole[]).includes(role);

/** The operation of each message that clients send on a live channel. */
export const messageOperations = {
  join: 'followRoom',
  heartbeat: 'followRoom',
  content: 'writeText',
  edit: 'writeText',
  'sealed-edit': 'writeText',
  compact: 'writeText',
  caret: 'writeText',
  'sealed-caret': 'writeText',
} as const satisfies Record<string, RoomOperation>;

export const maxLinksPerRoom = 20;

/** Members see the ids of devices with access by a link with this prefix. */
export const linkDevicePrefix = 'link-';
