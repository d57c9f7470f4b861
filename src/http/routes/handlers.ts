/** The handler of each endpoint. Each file lists its own. */

import { adminHandlers } from './admin.ts';
import { contentHandlers } from './content.ts';
import { downloadHandlers } from './downloads.ts';
import { fileHandlers } from './files.ts';
import type { HandlerDeps, Handlers } from './handler.ts';
import { linkHandlers } from './links.ts';
import { liveHandlers } from './live.ts';
import { operationHandlers } from './operations.ts';
import { pageHandlers } from './page.ts';
import { roomHandlers } from './room.ts';
import { uploadHandlers } from './uploads.ts';
import { webhookHandlers } from './webhooks.ts';

export function createHandlers(deps: HandlerDeps): Handlers {
  return {
    ...roomHandlers(deps),
    ...linkHandlers(deps),
    ...contentHandlers(deps),
    ...fileHandlers(deps),
    ...uploadHandlers(deps),
    ...downloadHandlers(deps),
    ...liveHandlers(deps),
    ...webhookHandlers(deps),
    ...operationHandlers(deps),
    ...adminHandlers(deps.admin),
    ...pageHandlers(deps),
  };
}
