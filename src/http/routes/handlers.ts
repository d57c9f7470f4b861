/** The handler of each endpoint. Each file lists its own. */
import { adminHandlers } from './admin-handlers.ts';
import { contentHandlers } from './content-handlers.ts';
import { fileHandlers } from './file-handlers.ts';
import type { HandlerDeps, Handlers } from './handler.ts';
import { operationHandlers } from './operation-handlers.ts';
import { pageHandlers } from './page-handlers.ts';
import { roomHandlers } from './room-handlers.ts';
import { uploadHandlers } from './upload-handlers.ts';

export function createHandlers(deps: HandlerDeps): Handlers {
  return {
    ...roomHandlers(deps),
    ...contentHandlers(deps),
    ...fileHandlers(deps),
    ...uploadHandlers(deps),
    ...operationHandlers(deps),
    ...adminHandlers(deps.admin),
    ...pageHandlers(deps),
  };
}
