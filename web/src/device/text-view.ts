/** How this tab shows the text of a room: in a field, as it is read, or large on the whole screen. */
import { type Signal, signal } from '@preact/signals';
import { isOneOf, localStore, sessionStore } from './storage.ts';

type TextView = 'edit' | 'read' | 'display';

const isView = isOneOf<TextView>(['read', 'display']);
const views = new Map<string, Signal<TextView>>();

/** Of each room, and the same after a reload. */
export function textViewOf(code: string): Signal<TextView> {
  const key = `view:${code}`;
  const view = views.get(code) ?? signal(sessionStore.get(key, isView) ?? localStore.get(key, isView) ?? 'edit');
  views.set(code, view);
  return view;
}

/** A screen that was invited stays one when it is switched off and on again, until a key returns to the editor. */
export function showText(code: string, view: TextView, { isInvited = false } = {}): void {
  const stored = view === 'edit' ? undefined : view;
  sessionStore.set(`view:${code}`, stored);
  localStore.set(`view:${code}`, isInvited ? stored : undefined);
  textViewOf(code).value = view;
}
