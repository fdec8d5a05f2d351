'use strict';
/*
 * Loads the bundle that lies beside this file: the program in chunks, each with what V8 made of it. Compiling takes
 * longer than most commands do, so the first run of a Node.js that may write here keeps it for the next ones.
 */
const {mkdirSync, readFileSync, renameSync, writeFileSync} = require('node:fs');
const {pathToFileURL} = require('node:url');
const {Script} = require('node:vm');

/**
 * What the bundler says: the chunk to start with, the files of those that every run and that most runs need, and what
 * the bundle is.
 */
/* global ENTRY, START, HOT, HOT_CHUNKS, BUILD */
const KEPT = `${__dirname}/compiled/${BUILD}-${process.version}-${process.arch}`;
const importMetaUrl = pathToFileURL(__filename).href;

const loaded = new Map();
const outside = new Set();
const uncached = new Map();
const chunks = open(START);

/** What a chunk exports, by the path that esbuild writes: `./name.js`. */
function load(path) {
  if (!path.startsWith('./')) {
    outside.add(path);
    return require(path);
  }
  const name = path.slice(2, -3);
  const before = loaded.get(name);
  if (before !== undefined) return before.exports;
  const module = {exports: {}};
  loaded.set(name, module);
  if (chunks[name] === undefined) Object.assign(chunks, open(HOT_CHUNKS.includes(name) ? HOT : name));
  const run = chunks[name];
  run(module.exports, load, module, importMetaUrl, deferred);
  return module.exports;
}

/** What `make` makes when it is first asked for, as the member `$`. */
function deferred(make) {
  let made;
  return {
    get $() {
      return (made ??= make());
    },
  };
}

/** The chunks in a file, as functions. */
function open(name) {
  const filename = `${__dirname}/${name}.js`;
  const source = readFileSync(filename, 'latin1');
  const script = new Script(source, {filename, cachedData: compiled(name)});
  // V8 refuses what another one, or one with other flags, has made.
  if (script.cachedDataRejected !== false) uncached.set(name, {source, filename});
  return script.runInThisContext();
}

function compiled(name) {
  try {
    return readFileSync(`${KEPT}/${name}`);
  } catch {
    // Nobody has kept it, or it can't be read: the source is there.
    return undefined;
  }
}

process.on('exit', () => {
  if (uncached.size === 0) return;
  try {
    mkdirSync(KEPT, {recursive: true});
    for (const [name, chunk] of uncached) keep(`${KEPT}/${name}`, chunk);
  } catch {
    // This user may not write here, or there is no room: the next run compiles again.
  }
});

/** Compiles all functions, not only those that ran: another command needs others. */
function keep(file, {source, filename}) {
  const {setFlagsFromString} = require('node:v8');
  setFlagsFromString('--no-lazy');
  setFlagsFromString('--no-compilation-cache');
  const script = new Script(source, {filename});
  setFlagsFromString('--compilation-cache');
  setFlagsFromString('--lazy');
  const own = `${file}.${process.pid}`;
  writeFileSync(own, script.createCachedData());
  renameSync(own, file);
}

/** The program; and what has been loaded so far, chunks by their names and modules that are not in the bundle. */
module.exports = {
  program: load(`./${ENTRY}.js`),
  loaded: () => ({chunks: [...loaded.keys()], outside: [...outside]}),
};
