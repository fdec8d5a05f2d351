'use strict';
/*
 * Loads the chunks beside this file as CommonJS modules, with the code that V8 compiled for them in earlier runs:
 * compiling takes longer than most commands do. module.enableCompileCache() keeps no functions that are compiled when
 * they are first called, which are most of them (docs/design/build.md).
 */
const {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const {Script} = require('node:vm');

/** Set by the bundler: the chunk to start with, and a hash of all chunks. */
/* global ENTRY_FILE, BUILD */

const user = process.geteuid();
/** Where compiled code is kept, of all builds and of this one; undefined when none is kept. */
const cache = cacheFolder();
const folder = cache && `${cache}/${BUILD}-${process.version}-${process.arch}`;
/** Compiled code of other builds is removed after so many milliseconds: 30 days. */
const MAX_AGE_MS = 30 * 24 * 3600 * 1000;

/** Loaded chunks, by file name. */
const chunks = new Map();
/** Modules outside the bundle, by name. */
const outside = new Map();
/** Whether V8 had to compile a chunk in this run. */
let isCompiled = false;

function cacheFolder() {
  const {NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE, XDG_CACHE_HOME, HOME} = process.env;
  if (NODE_DISABLE_COMPILE_CACHE) return undefined;
  // sudo may leave HOME as it is: root's cache must not lie in another user's home.
  const system = user === 0 ? '/var/cache' : undefined;
  const home = NODE_COMPILE_CACHE || system || XDG_CACHE_HOME || `${HOME}/.cache`;
  return home.startsWith('/') ? `${home}/kcri` : undefined;
}

/** Replaces `require` in chunks. */
function load(name) {
  if (name.startsWith('./')) return loadChunk(name.slice(2));
  return name.startsWith('node:') ? deferred(name) : requireOutside(name);
}

function requireOutside(name) {
  if (!outside.has(name)) outside.set(name, require(name));
  return outside.get(name);
}

/** Returns a module of Node.js that is loaded when it is first used: some take as long as a command. */
function deferred(name) {
  return new Proxy(
    {},
    {
      get: (_, member) => requireOutside(name)[member],
      ownKeys: () => Reflect.ownKeys(requireOutside(name)),
      getOwnPropertyDescriptor: (_, member) => ({
        ...Reflect.getOwnPropertyDescriptor(requireOutside(name), member),
        configurable: true,
      }),
    },
  );
}

function loadChunk(file) {
  const known = chunks.get(file);
  if (known !== undefined) return known.module.exports;
  const filename = `${__dirname}/${file}`;
  const source = `(function(require,module,exports){${read(filename).bytes.latin1Slice()}\n})`;
  const script = new Script(source, {filename, cachedData: compiledCode(file)});
  // True when V8 refuses what another version, or one with other flags, has made; undefined when there was nothing.
  if (script.cachedDataRejected !== false) isCompiled = true;
  const module = {exports: {}};
  chunks.set(file, {module, script});
  script.runInThisContext()(load, module, module.exports);
  return module.exports;
}

/** Returns what an earlier run kept, unless another user could have written it: compiled code can do anything. */
function compiledCode(file) {
  if (folder === undefined) return undefined;
  try {
    const {bytes, stat} = read(`${folder}/${file}`);
    return stat.uid === user && (stat.mode & 0o022) === 0 ? bytes : undefined;
  } catch {
    // Nothing was kept, or it can't be read: V8 compiles the source.
    return undefined;
  }
}

function read(path) {
  const fd = openSync(path);
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
 * Keeps compiled code for later runs; to be called at the end of a run. When a chunk is new, those loaded with it are
 * kept again: V8 then also has the functions of theirs that this command called.
 */
function keepCompiled() {
  if (!isCompiled || folder === undefined) return;
  try {
    const isNew = mkdirSync(folder, {recursive: true, mode: 0o700}) !== undefined;
    for (const [file, {script}] of chunks) keep(`${folder}/${file}`, script.createCachedData());
    if (isNew) removeOldBuilds();
  } catch {
    // Nothing can be written here, or there is no room: the next run compiles again.
  }
}

function removeOldBuilds() {
  const isOld = (path) => statSync(path).mtimeMs < Date.now() - MAX_AGE_MS;
  const paths = readdirSync(cache).map((name) => `${cache}/${name}`);
  for (const path of paths.filter(isOld)) rmSync(path, {recursive: true, force: true});
}

/** Writes all of a file or nothing: V8 only checks the length of what it is given. */
function keep(file, code) {
  // Processes in different containers may have the same pid.
  const temporary = `${file}.${process.pid}.${process.hrtime.bigint()}`;
  try {
    writeFileSync(temporary, code, {flag: 'wx', mode: 0o600, flush: true});
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, {force: true});
    throw error;
  }
}

module.exports = {
  program: loadChunk(ENTRY_FILE),
  keepCompiled,
  /** Returns the files of the chunks and the outside modules that were loaded so far. */
  loaded: () => ({chunks: [...chunks.keys()], outside: [...outside.keys()]}),
};
