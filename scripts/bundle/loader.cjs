'use strict';
/*
 * Loads the bundle that lies beside this file: the program in chunks, each with what V8 made of it. Compiling takes
 * longer than most commands do, so it is kept for the next runs of the same Node.js.
 */
const {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} = require('node:fs');
const {Script} = require('node:vm');

/**
 * What the bundler says: the chunk to start with, the files of those that every run and that most runs need, and what
 * the bundle is.
 */
/* global ENTRY, START, HOT, HOT_CHUNKS, BUILD */
const KEPT = `${__dirname}/compiled/${BUILD}-${process.version}-${process.arch}`;

/** What stands for import.meta in the bundle. */
const here = {
  get url() {
    return require('node:url').pathToFileURL(__filename).href;
  },
};

/** Functions that load chunks, by the chunks' names. */
const provided = new Map();
const begun = new Set();
const outside = new Set();
/** Scripts that V8 had to compile in this run, by the names that they are kept by. */
const fresh = new Map();
let owner;
open(START, START);

/** What a chunk exports, by the path that esbuild writes: `./name.js`. */
function load(path) {
  const name = path.slice(2, -3);
  if (!provided.has(name)) open(HOT_CHUNKS.includes(name) ? HOT : name, name);
  return provided.get(name)();
}

/** A function that runs a chunk when it is first called: `{'member:its-name'() { its body }}`. */
function once(chunk) {
  const [id] = Object.keys(chunk);
  let isBegun = false;
  return () => {
    if (isBegun) return;
    isBegun = true;
    begun.add(id);
    chunk[id]();
  };
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

function requireOutside(path) {
  outside.add(path);
  return require(path);
}

/**
 * Makes the chunks in a file known. Each chunk that a file is first opened for has compiled code of its own: that of
 * the functions which this command needs.
 */
function open(file, chunk) {
  const filename = `${__dirname}/${file}.js`;
  const {bytes, stat} = read(filename);
  owner = stat.uid;
  const source = bytes.latin1Slice();
  const script = new Script(source, {filename, cachedData: compiled(chunk)});
  // V8 refuses what another one, or one with other flags, has made.
  if (script.cachedDataRejected !== false) fresh.set(chunk, {script, source, filename});
  script.runInThisContext()(
    (name, run) => provided.set(name, run),
    once,
    load,
    deferred,
    here,
    requireOutside,
  );
}

/**
 * What was kept, when only who may change the program may have written it: compiled code does what it likes. Undefined
 * when there is none.
 */
function compiled(name) {
  try {
    const {bytes, stat} = read(`${KEPT}/${name}`);
    return stat.uid === owner && (stat.mode & 0o022) === 0 ? bytes : undefined;
  } catch {
    // Nobody has kept it, or it can't be read: the source is there.
    return undefined;
  }
}

function read(file) {
  const fd = openSync(file);
  try {
    const stat = fstatSync(fd);
    const bytes = Buffer.allocUnsafeSlow(stat.size);
    const length = readSync(fd, bytes);
    return {bytes: bytes.subarray(0, length), stat};
  } finally {
    closeSync(fd);
  }
}

/**
 * Keeps what V8 had to compile in this run, to be called at its end. Only the program's owner does so, that nobody else
 * leaves files in the package.
 */
function keepCompiled() {
  if (fresh.size === 0 || process.geteuid() !== owner) return;
  try {
    mkdirSync(KEPT, {recursive: true, mode: 0o755});
    for (const [name, {script, source, filename}] of fresh)
      keep(`${KEPT}/${name}`, name === START ? whole(source, filename) : script);
  } catch {
    // Nothing can be written here, or there is no room: the next run compiles again.
  }
}

/** A script with all its functions compiled, not only those that ran: another command starts in another way. */
function whole(source, filename) {
  const {setFlagsFromString} = require('node:v8');
  setFlagsFromString('--no-lazy');
  setFlagsFromString('--no-compilation-cache');
  const script = new Script(source, {filename});
  setFlagsFromString('--compilation-cache');
  setFlagsFromString('--lazy');
  return script;
}

/** V8 believes what has the right length, so that after a power cut all of it has to be there, or nothing. */
function keep(file, script) {
  // Two processes may have one pid, in containers; and what a killed one has left stands in nobody's way.
  const own = `${file}.${process.pid}.${process.hrtime.bigint()}`;
  try {
    writeFileSync(own, script.createCachedData(), {flag: 'wx', mode: 0o644, flush: true});
    renameSync(own, file);
  } catch (error) {
    rmSync(own, {force: true});
    throw error;
  }
}

/** The program; and what has been loaded so far, chunks by their names and modules that are not in the bundle. */
module.exports = {
  program: load(`./${ENTRY}.js`),
  keepCompiled,
  loaded: () => ({
    chunks: [...begun].map((id) => id.slice(id.indexOf(':') + 1)),
    outside: [...outside],
  }),
};
