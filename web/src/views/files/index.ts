/** The parts of the file panel that an empty room does not need; see file-parts.tsx. */

export { alertArrival } from '../../device/arrival-alerts.ts';
export { FileRow } from './file-row.tsx';
export { FileTools } from './file-tools.tsx';
export { OneTimeRow } from './one-time-row.tsx';
export { ReceiveDialog } from './receive-dialog.tsx';
export { createRemoval } from './remove-with-undo.ts';
