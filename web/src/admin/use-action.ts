/** Runs a change on the server, and keeps its problem for the page to show. */
import { useState } from 'preact/hooks';
import { AdminError } from './api.ts';

export interface Action {
  problem: AdminError | undefined;
  /** Resolves to whether it succeeded. */
  run(work: () => Promise<unknown>): Promise<boolean>;
}

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
