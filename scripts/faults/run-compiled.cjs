'use strict';
/*
 * Runs a program with the code that V8 has compiled for it in an earlier process, since a process that is killed soon uses most
 * of its time to compile. Stores that code when the program is told to stop, after it has called most of its functions.
 * Usage: fork(run-compiled.cjs, [PROGRAM])
 */
const {existsSync, readFileSync, renameSync, writeFileSync} = require('node:fs');
const {createRequire} = require('node:module');
const {dirname} = require('node:path');
const {Script} = require('node:vm');

const [, , filename] = process.argv;
const stored = `${filename}.compiled-${process.version}`;
const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(filename, 'latin1')}\n})`;
const script = new Script(source, {
  filename,
  cachedData: existsSync(stored) ? readFileSync(stored) : undefined,
});
const module_ = {exports: {}};
script.runInThisContext()(
  ...[module_.exports, createRequire(filename), module_, filename, dirname(filename)],
);
process.on('message', (message) => {
  if (message !== 'stop' || existsSync(stored)) return;
  // V8 checks only the length of the data.
  writeFileSync(`${stored}.${process.pid}`, script.createCachedData());
  renameSync(`${stored}.${process.pid}`, stored);
});
