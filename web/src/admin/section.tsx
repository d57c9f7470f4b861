// biome-ignore-all lint/a11y/noRedundantRoles: see `Table`
/** The parts that sections share: the state of their data, tables, pagination and confirmations. */
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { PoproomError } from '../../../src/client/error.ts';
import { call, formatCount } from './api.ts';

export interface SectionProps {
  /** Called when the server rejects the token. */
  onSignedOut(): void;
}

/** A list of the server, by pages, with the changes that the operator makes to its entries. */
export function useList<T>(path: string) {
  const [page, setPage] = useState({ path, offset: 0 });
  const [question, ask] = useState<Question>();
  // Another order or time starts with the first page.
  const offset = page.path === path ? page.offset : 0;
  const data = useData<T>(`${path}limit=${pageSize}&offset=${offset}`);
  const { problem, run } = useAction(data.reload);
  return { data, offset, turnTo: (next: number) => setPage({ path, offset: next }), problem, run, question, ask };
}

interface ListProps<T, Row> extends SectionProps, Omit<TableProps<Row>, 'rows'> {
  list: ReturnType<typeof useList<T>>;
  rowsOf(data: T): readonly Row[];
}

export function List<T extends { total: number }, Row>({ list, rowsOf, onSignedOut, ...table }: ListProps<T, Row>) {
  const { data, offset, turnTo, problem, question, ask, run } = list;
  return (
    <>
      {problem && <Problem message={problem.message} />}
      <WithData data={data} onSignedOut={onSignedOut}>
        {(loaded) => (
          <>
            <Table {...table} rows={rowsOf(loaded)} />
            <Pages offset={offset} total={loaded.total} onChange={turnTo} />
          </>
        )}
      </WithData>
      {question && <Confirmation question={question} onConfirmed={run} onClose={() => ask(undefined)} />}
    </>
  );
}

interface StatusProps<T> extends SectionProps {
  data: ReturnType<typeof useData<T>>;
  children(data: T): ComponentChildren;
}

/** Shows the data, or why there is none. */
export function WithData<T>({ data: { loaded, reload }, onSignedOut, children }: StatusProps<T>) {
  const { data, error } = loaded;
  const isRejected = error?.code === 'INVALID_ADMIN_TOKEN';
  useEffect(() => {
    if (isRejected) onSignedOut();
  }, [isRejected, onSignedOut]);
  return (
    <>
      {error && <Problem message={error.message} onRetry={reload} />}
      {!error && data === undefined && <p role="status">Loading…</p>}
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
  show(row: T): ComponentChildren;
}

interface TableProps<T> {
  caption: string;
  columns: readonly Column<T>[];
  /** The buttons of a row. */
  actions(row: T): ComponentChildren;
  rows: readonly T[];
  keyOf(row: T): string;
  /** Shown if there are no rows. */
  empty: string;
}

/** On narrow screens each row becomes a card, so the roles are explicit: `display` would remove them. */
export function Table<T>({ caption, columns, actions, rows, keyOf, empty }: TableProps<T>) {
  if (rows.length === 0) return <p class="card empty">{empty}</p>;
  return (
    <table class="card" role="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, isNumber }) => (
            <th key={title} role="columnheader" scope="col" class={isNumber ? 'number' : ''}>
              <span>{title}</span>
            </th>
          ))}
          <th role="columnheader" scope="col">
            <span class="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map(({ title, isNumber, show }) => (
              <td key={title} role="cell" class={isNumber ? 'number' : ''}>
                <span class="label" aria-hidden="true">
                  {title}
                </span>
                <span class="value">{show(row)}</span>
              </td>
            ))}
            <td role="cell" class="actions">
              <span class="value">{actions(row)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface RowButtonProps {
  text: string;
  /** What it changes, for its label. */
  target: string;
  isDanger?: boolean;
  onClick(): void;
}

export function RowButton({ text, target, isDanger, onClick }: RowButtonProps) {
  return (
    <button type="button" class={isDanger ? 'quiet-danger' : ''} aria-label={`${text} ${target}`} onClick={onClick}>
      {text}
    </button>
  );
}

const pageSize = 50;

/** The server lists no more. */
const maxOffset = 9800;

function Pages({ offset, total, onChange }: { offset: number; total: number; onChange(offset: number): void }) {
  if (total <= pageSize) return null;
  const last = Math.min(offset + pageSize, total);
  return (
    <div class="pages">
      <button type="button" disabled={offset === 0} onClick={() => onChange(Math.max(0, offset - pageSize))}>
        Previous
      </button>
      <span role="status">
        {offset + 1}–{last} of {formatCount(total)}
      </span>
      <button type="button" disabled={last >= total || last > maxOffset} onClick={() => onChange(offset + pageSize)}>
        Next
      </button>
    </div>
  );
}

interface Question {
  title: string;
  details: string;
  /** Of the button. */
  action: string;
  work(): Promise<unknown>;
}

interface ConfirmationProps {
  question: Question;
  onConfirmed: ReturnType<typeof useAction>['run'];
  onClose(): void;
}

function Confirmation({ question, onConfirmed, onClose }: ConfirmationProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { title, details, action, work } = question;
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
            void onConfirmed(work);
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

interface Loaded<T> {
  /** Of the last success. */
  data?: T | undefined;
  /** Of the last request, if it failed. */
  error?: PoproomError;
}

/** Loads data of the admin API, and loads it again when the path changes or on request. */
export function useData<T>(path: string, refreshMs?: number) {
  const [loaded, setLoaded] = useState<Loaded<T>>({});
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((last) => last + 1), []);

  // Another round loads the same path again.
  useEffect(() => {
    const controller = new AbortController();
    call<T>(path, { signal: controller.signal }).then(
      (data) => setLoaded({ data }),
      (error: unknown) => {
        if (!controller.signal.aborted) setLoaded(({ data }) => ({ data, error: toPoproomError(error) }));
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

const toPoproomError = (error: unknown): PoproomError =>
  error instanceof PoproomError ? error : new PoproomError('INTERNAL', String(error));

/** Runs a change on the server, and keeps its problem for the page to show. */
export function useAction(onDone: () => void) {
  const [problem, setProblem] = useState<PoproomError>();
  return {
    problem,
    /** Resolves to whether it succeeded. */
    async run(work: () => Promise<unknown>): Promise<boolean> {
      try {
        await work();
        setProblem(undefined);
        onDone();
        return true;
      } catch (error) {
        setProblem(toPoproomError(error));
        return false;
      }
    },
  };
}
