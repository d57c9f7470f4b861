/** How this tab shows the text of a room: in a field, as it is read, or large on the whole screen. */
import { signal } from '@preact/signals';

export const textView = signal<'edit' | 'read' | 'display'>('edit');
