/** The parts that sections share: the state of their data, tables, pagination and confirmations. */
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { AdminError, call } from './api.ts';

export interface SectionProps {
  /** Called when the server rejects the token. */
  onSignedOut(): void;
}

interface StatusProps<T> extends SectionProps {
  data: Data<T>;
  children(data: T): ComponentChildren;
}

/** Shows the data, or why there is none. */
export function WithData<T>({ data: { loaded, reload }, onSignedOut, children }: StatusProps<T>) {
  const isRejected = loaded.state === 'failed' && loaded.error.code === 'INVALID_ADMIN_TOKEN';
  useEffect(() => {
    if (isRejected) onSignedOut();
  }, [isRejected, onSignedOut]);
  const data = dataOf(loaded);
  return (
    <>
      {loaded.state === 'failed' && <Problem message={loaded.error.message} onRetry={reload} />}
      {loaded.state === 'loading' && <p role="status">Loading…</p>}
      {data !== undefined && children(data)}
    </>
  );
}

export function Problem({ message, onRetry }: { message: string; onRetry?: () => void }) {
  return (
    <p class="problem" role="alert">
      {message}{' '}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </p>
  );
}

export interface Column<T> {
  title: string;
  /** Aligned as a number. */
  isNumber?: boolean;
  /** Has buttons, so that its title is only for screen readers. */
  isActions?: boolean;
  show(row: T): ComponentChildren;
}

interface TableProps<T> {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf(row: T): string;
  /** Shown if there are no rows. */
  empty: string;
}

/** On narrow screens each row becomes a card, so the roles are explicit: `display` would remove them. */
export function Table<T>({ caption, columns, rows, keyOf, empty }: TableProps<T>) {
  if (rows.length === 0) return <p class="card empty">{empty}</p>;
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see above
    <table class="card" role="table">
      <caption class="hidden">{caption}</caption>
      {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
      <thead role="rowgroup">
        {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
        <tr role="row">
          {columns.map(({ title, isNumber, isActions }) => (
            // biome-ignore lint/a11y/noRedundantRoles: see above
            <th key={title} role="columnheader" scope="col" class={isNumber ? 'number' : ''}>
              <span class={isActions ? 'hidden' : ''}>{title}</span>
            </th>
          ))}
        </tr>
      </thead>
      {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
      <tbody role="rowgroup">
        {rows.map((row) => (
          // biome-ignore lint/a11y/noRedundantRoles: see above
          <tr key={keyOf(row)} role="row">
            {columns.map(({ title, isNumber, isActions, show }) => (
              // biome-ignore lint/a11y/noRedundantRoles: see above
              <td key={title} role="cell" class={isNumber ? 'number' : isActions ? 'actions' : ''}>
                {!isActions && (
                  <span class="label" aria-hidden="true">
                    {title}
                  </span>
                )}
                <span class="value">{show(row)}</span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export const pageSize = 50;

interface PagesProps {
  offset: number;
  total: number;
  onChange(offset: number): void;
}

/** The server lists no more. */
const maxOffset = 9800;

export function Pages({ offset, total, onChange }: PagesProps) {
  if (total <= pageSize) return null;
  const last = Math.min(offset + pageSize, total);
  return (
    <div class="pages">
      <button type="button" disabled={offset === 0} onClick={() => onChange(Math.max(0, offset - pageSize))}>
        Previous
      </button>
      <span role="status">
        {offset + 1}–{last} of {total.toLocaleString('en')}
      </span>
      <button type="button" disabled={last >= total || last > maxOffset} onClick={() => onChange(offset + pageSize)}>
        Next
      </button>
    </div>
  );
}

export interface Question {
  title: string;
  details: string;
  /** Of the button. */
  action: string;
  run(): void;
}

export function Confirmation({ question, onClose }: { question: Question; onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { title, details, action, run } = question;
  return (
    <dialog ref={dialog} aria-labelledby="question" onClose={onClose}>
      <h2 id="question">{title}</h2>
      <p>{details}</p>
      <div class="buttons answers">
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => {
            run();
            dialog.current?.close();
          }}
        >
          {action}
        </button>
      </div>
    </dialog>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  choices: Readonly<Record<T, string>>;
  onChange(value: T): void;
}

export function Choice<T extends string>({ label, value, choices, onChange }: ChoiceProps<T>) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
        {Object.entries<string>(choices).map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

type Loaded<T> =
  | { state: 'loading' }
  | { state: 'loaded'; data: T }
  /** With the data of the last success, if there is any. */
  | { state: 'failed'; error: AdminError; data: T | undefined };

interface Data<T> {
  loaded: Loaded<T>;
  reload(): void;
}

/** Loads data of the admin API, and loads it again when the path changes or on request. */
export function useData<T>(path: string, refreshMs?: number): Data<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((last) => last + 1), []);

  // Another round loads the same path again.
  useEffect(() => {
    const controller = new AbortController();
    call<T>(path, { signal: controller.signal }).then(
      (data) => setLoaded({ state: 'loaded', data }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const shown = error instanceof AdminError ? error : new AdminError('FAILED', String(error));
        setLoaded((last) => ({ state: 'failed', error: shown, data: dataOf(last) }));
      },
    );
    return () => controller.abort();
  }, [path, round]);

  useEffect(() => {
    if (refreshMs === undefined) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), refreshMs);
    return () => clearInterval(timer);
  }, [refreshMs, reload]);

  return { loaded, reload };
}

function dataOf<T>(loaded: Loaded<T>): T | undefined {
  return loaded.state === 'loading' ? undefined : loaded.data;
}

export interface Action {
  problem: AdminError | undefined;
  /** Resolves to whether it succeeded. */
  run(work: () => Promise<unknown>): Promise<boolean>;
}

/** Runs a change on the server, and keeps its problem for the page to show. */
export function useAction(onDone: () => void): Action {
  const [problem, setProblem] = useState<AdminError>();
  return {
    problem,
    async run(work) {
      try {
        await work();
        setProblem(undefined);
        onDone();
        return true;
      } catch (error) {
        setProblem(error instanceof AdminError ? error : new AdminError('FAILED', String(error)));
        return false;
      }
    },
  };
}
