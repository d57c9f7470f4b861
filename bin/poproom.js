#!/usr/bin/env node
// A file of its own, because Node's cache of compiled code must be switched on before the code is loaded.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/poproom', import.meta.url)));
await import('../dist/main.js');
