#!/usr/bin/env node
// Plain JavaScript, because it must run before Node's cache of compiled (and type-stripped) modules is switched on.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/poproom', import.meta.url)));
const { main } = await import('../src/cli/main.ts');
await main(process.argv.slice(2));
