/** Events within one process: the contract of event buses. */
import { createLocalBus } from '../../src/bus/local.ts';
import { busContract } from '../contract/bus.ts';

busContract('local', async () => ({ bus: createLocalBus(), dispose: async () => undefined }));
