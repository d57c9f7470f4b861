/** Compiles the validators of all bodies ahead of the first request, once the server already answers. */
import { type Endpoint, endpoints } from '../protocol/endpoints.ts';
import { validatorOf } from './validator.ts';

export async function prepareBodies(): Promise<void> {
  for (const { body } of Object.values(endpoints) as Endpoint[]) {
    if (body && body !== 'file') await validatorOf(body.schema);
  }
}
