/** All endpoints. The router and the documentation are built from this table. */
import { adminEndpoints } from './endpoints/admin.ts';
import { filesEndpoints } from './endpoints/files.ts';
import { liveEndpoints } from './endpoints/live.ts';
import { pageEndpoints } from './endpoints/page.ts';
import { roomsEndpoints } from './endpoints/rooms.ts';
import { serviceEndpoints } from './endpoints/service.ts';
import { textEndpoints } from './endpoints/text.ts';
import { uploadsEndpoints } from './endpoints/uploads.ts';

export { type Endpoint, type Success, tags } from './endpoints/endpoint.ts';

/** In the order of the documentation. */
export const endpoints = {
  ...roomsEndpoints,
  ...textEndpoints,
  ...uploadsEndpoints,
  ...filesEndpoints,
  ...liveEndpoints,
  ...serviceEndpoints,
  ...adminEndpoints,
  ...pageEndpoints,
};

export type EndpointName = keyof typeof endpoints;
