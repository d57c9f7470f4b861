/** The parts of a room that are rarely shown. They share a chunk that is loaded when the first of them is needed. */
export { announceChanges } from './announce-changes.ts';
export { DeleteDialog } from './delete-dialog.tsx';
export { DismissibleAlert } from './dismissible-alert.tsx';
export { HistoryDialog } from './history-dialog.tsx';
export { InviteDialog } from './invite-dialog.tsx';
export { LeaveDialog } from './leave-dialog.tsx';
export { PasteDialog } from './paste-dialog.tsx';
export { RoomPin } from './room-pin.tsx';
export { RoomSettingsDialog } from './room-settings-dialog.tsx';
