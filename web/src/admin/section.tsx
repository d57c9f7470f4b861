// biome-ignore-all lint/a11y/noRedundantRoles: see `Table`
/** The parts that sections share: the state of their data, tables, pagination and confirmations. */
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { PoproomError } from '../../../src/client/error.ts';
import { call, formatCount, token } from './api.ts';

/** What the buttons of a row can do. The list is loaded again afterwards. */
interface Changes {
  run(work: () => Promise<unknown>): Promise<boolean>;
  /** Runs the work of the question if the operator confirms it. */
  ask(question: Question): void;
}

interface ListProps<T, Row> extends Omit<TableProps<Row>, 'actions' | 'rows'> {
  note: ComponentChildren;
  /** What the operator can choose: the order, for example. */
  children?: ComponentChildren;
  /** With a query, to which the page of the list is added. */
  path: string;
  rowsOf(data: T): readonly Row[];
  actions(row: Row, changes: Changes): ComponentChildren;
}

/** A list of the server, by pages, with the changes that the operator makes to its entries. */
export function List<T extends { total: number }, Row>(props: ListProps<T, Row>) {
  const { note, children, path, rowsOf, actions, ...table } = props;
  const [page, setPage] = useState({ path, offset: 0 });
  const [question, ask] = useState<Question>();
  // Another order or time starts with the first page.
  const offset = page.path === path ? page.offset : 0;
  const data = useData<T>(`${path}limit=${pageSize}&offset=${offset}`);
  const { problem, run } = useAction(data.reload);
  return (
    <>
      <p class="note">{note}</p>
      {children && <div class="choices">{children}</div>}
      {problem && <Problem message={problem.message} />}
      <WithData data={data}>
        {(loaded) => (
          <>
            <Table {...table} actions={(row) => actions(row, { run, ask })} rows={rowsOf(loaded)} />
            <Pages offset={offset} total={loaded.total} onChange={(next) => setPage({ path, offset: next })} />
          </>
        )}
      </WithData>
      {question && <Confirmation {...question} run={run} onClose={() => ask(undefined)} />}
    </>
  );
}

interface StatusProps<T> {
  data: ReturnType<typeof useData<T>>;
  children(data: T): ComponentChildren;
}

/** Shows the data, or why there is none. */
export function WithData<T>({ data: { data, error, reload }, children }: StatusProps<T>) {
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
      {message} {onRetry && <Button text="Try again" onClick={onRetry} />}
    </p>
  );
}

interface Column<T> {
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

interface ButtonProps extends ButtonHTMLAttributes {
  text: string;
  /** What it changes, for its label. */
  target?: string;
}

export function Button({ text, target, ...attributes }: ButtonProps) {
  return (
    <button type="button" aria-label={target && `${text} ${target}`} {...attributes}>
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
      <Button text="Previous" disabled={offset === 0} onClick={() => onChange(Math.max(0, offset - pageSize))} />
      <span role="status">
        {offset + 1}–{last} of {formatCount(total)}
      </span>
      <Button text="Next" disabled={last >= total || last > maxOffset} onClick={() => onChange(offset + pageSize)} />
    </div>
  );
}

export interface Question {
  title: string;
  details: string;
  /** Of the button. */
  action: string;
  work(): Promise<unknown>;
}

type Ending = Pick<Changes, 'run'> & { onClose(): void };

function Confirmation({ title, details, action, work, run, onClose }: Question & Ending) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => dialog.current?.close();

  function confirm(): void {
    void run(work);
    close();
  }

  return (
    <dialog ref={dialog} aria-labelledby="question" onClose={onClose}>
      <h2 id="question">{title}</h2>
      <p>{details}</p>
      <div class="buttons answers">
        <Button text="Cancel" onClick={close} />
        <Button text={action} class="danger" onClick={confirm} />
      </div>
    </dialog>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  choices: Readonly<Record<T, string>>;
  onChange(value: NoInfer<T>): void;
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

/** Loads data of the admin API, and loads it again when the path changes or on request. */
export function useData<T>(path: string, refreshMs?: number) {
  // The data of the last success, and the error of the last request, if it failed.
  const [loaded, setLoaded] = useState<{ data?: T | undefined; error?: PoproomError }>({});
  const [round, reload] = useReducer<number, void>((last) => last + 1, 0);

  // Another round loads the same path again.
  useEffect(() => {
    const controller = new AbortController();
    call<T>(path, { signal: controller.signal }).then(
      (data) => setLoaded({ data }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const problem = toPoproomError(error);
        if (problem.code === 'INVALID_ADMIN_TOKEN') token.value = null;
        else setLoaded(({ data }) => ({ data, error: problem }));
      },
    );
    const refresh = () => document.visibilityState === 'visible' && reload();
    const timer = refreshMs && setInterval(refresh, refreshMs);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [path, round]);

  return { ...loaded, reload };
}

const toPoproomError = (error: unknown): PoproomError =>
  error instanceof PoproomError ? error : new PoproomError('INTERNAL', String(error));

/** Runs a change on the server, and keeps its problem for the page to show. */
export function useAction(onDone?: () => void) {
  const [problem, setProblem] = useState<PoproomError>();

  /** Resolves to whether it succeeded. */
  async function run(work: () => Promise<unknown>): Promise<boolean> {
    const error = await work().then(() => undefined, toPoproomError);
    setProblem(error);
    if (!error) onDone?.();
    return !error;
  }
  return { problem, run };
}
