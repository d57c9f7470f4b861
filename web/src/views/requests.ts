/** Requests of views: their results, lists on the server, and forms. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { PoproomError } from '../../../src/client/error.ts';
import { errorMessage } from '../i18n/strings.ts';
import { toPoproomError } from '../server-connection.ts';

/** Has neither of them while the request is on its way. */
export interface Loading<T> {
  readonly value?: T;
  readonly error?: PoproomError;
}

export async function load<T>(request: () => Promise<T>): Promise<Loading<T>> {
  try {
    return { value: await request() };
  } catch (error) {
    return { error: toPoproomError(error) };
  }
}

/** A list on the server, which is loaded again after each change. */
export function useRemoteList<T>(loadAll: () => Promise<readonly T[]>) {
  const list = useSignal<readonly T[]>([]);
  const problem = useSignal('');

  async function change(work: () => Promise<unknown>): Promise<void> {
    problem.value = '';
    const { value, error } = await load(() => work().then(loadAll));
    if (value) list.value = value;
    if (error) problem.value = errorMessage(error);
  }

  useEffect(() => void change(async () => undefined), []);
  return { list, problem, change };
}

/** A form that sends one request at a time. `send` returns what is wrong, if anything is. */
export function useSubmission(send: () => Promise<string | undefined>) {
  const isSending = useSignal(false);
  const problem = useSignal('');

  async function onSubmit(event: Event): Promise<void> {
    // A dialog closes when a form in it is submitted.
    event.preventDefault();
    event.stopPropagation();
    if (isSending.value) return;
    isSending.value = true;
    problem.value = '';
    problem.value = (await send()) ?? '';
    isSending.value = false;
  }

  return { isSending, problem, onSubmit };
}
