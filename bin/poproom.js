#!/usr/bin/env node
// A file of its own, because Node's cache of compiled code must be switched on before the code is loaded.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const near = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const oldestNode = 24;
const ownNode = near('node_modules/.bin/node');

if (Number.parseInt(process.versions.node, 10) >= oldestNode) {
  module.enableCompileCache(near('node_modules/.cache/poproom'));
  await import(existsSync(near('dist/main.js')) ? '../dist/main.js' : '../src/cli/main.ts');
} else if (existsSync(ownNode)) {
  // A checkout brings its own Node along, for hosts with an old one.
  const { spawn } = await import('node:child_process');
  const child = spawn(ownNode, process.argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
} else {
  console.error(`poproom needs Node ${oldestNode} or newer; this is ${process.version}.`);
  process.exitCode = 1;
}
