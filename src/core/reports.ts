/** Reports of rooms, which people send to the operator. */
import { randomBytes } from 'node:crypto';
import { removeUnsafeCharacters } from '../protocol/file-name.ts';
import type { CreateReportRequest } from '../protocol/types.ts';
import { admit, type Caller } from './admission.ts';
import type { ClientHash } from './clients.ts';
import type { CoreDeps } from './deps.ts';
import { PoproomError } from './errors.ts';
import { reportLimits } from './limits.ts';
import type { Log } from './ports/basics.ts';

export type Reports = ReturnType<typeof createReports>;

export function createReports(deps: CoreDeps, hashClient: ClientHash, log: Log) {
  return {
    /** Everyone with access to the room may report it. Nothing of its content is stored with the report. */
    async add(caller: Caller, { reason, comment = '' }: CreateReportRequest): Promise<void> {
      const { code, createdAt: roomCreatedAt } = await admit(deps, caller, 'reportRoom');
      const report = {
        ...{ id: randomBytes(5).toString('hex'), code, roomCreatedAt, reason, createdAt: deps.clock() },
        comment: removeUnsafeCharacters(comment) || undefined,
        client: hashClient(caller.client),
      };
      const outcome = await deps.reports.put(report, reportLimits);
      if (outcome === 'full')
        throw new PoproomError(
          'TOO_MANY_REPORTS',
          'The operator has too many open reports. Contact the operator directly.',
        );
      log.warn({ report: report.id, reason }, 'someone reported a room');
    },
  };
}
