#!/usr/bin/env node
// A separate file, because Node's compile cache must be enabled before the code is loaded. It has no static imports:
// importing node:fs alone would load a tenth of Node.
const oldestNode = 24;
const near = (path) => new URL(`../${path}`, import.meta.url);

if (Number.parseInt(process.versions.node, 10) >= oldestNode) {
  const { existsSync } = process.getBuiltinModule('node:fs');
  const { fileURLToPath } = process.getBuiltinModule('node:url');
  process.getBuiltinModule('node:module').enableCompileCache(fileURLToPath(near('node_modules/.cache/poproom')));
  await import(existsSync(near('dist/main.js')) ? '../dist/main.js' : '../src/cli/main.ts');
} else {
  const { existsSync } = await import('node:fs');
  const { fileURLToPath } = await import('node:url');
  const ownNode = fileURLToPath(near('node_modules/.bin/node'));
  if (existsSync(ownNode)) await runOn(ownNode);
  else {
    console.error(`poproom needs Node ${oldestNode} or newer; this is ${process.version}.`);
    process.exitCode = 1;
  }
}

/** A checkout includes its own Node, for machines with an older one. */
async function runOn(node) {
  const { spawn } = await import('node:child_process');
  const { constants } = await import('node:os');
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
