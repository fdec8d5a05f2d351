'use strict';
/*
 * Loads the chunks beside this file as CommonJS modules, with the code that V8 compiled for them in earlier runs,
 * since compilation takes longer than most commands. module.enableCompileCache() does not store functions compiled
 * lazily, which are most of them (docs/design/build.md).
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

/** Defined by the bundler: the entry chunk, and a hash of all chunks. */
/* global ENTRY_FILE, BUILD */

const user = process.geteuid();
/** Directory of compiled code of all builds, and of this build. Undefined if nothing is stored. */
const cache = cacheFolder();
const folder = cache && `${cache}/${BUILD}-${process.version}-${process.arch}`;
/** Age after which compiled code of other builds is removed: 30 days. */
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
  // sudo may not change HOME: root's cache must not be in another user's home.
  const system = user === 0 ? '/var/cache' : undefined;
  const home = NODE_COMPILE_CACHE || system || XDG_CACHE_HOME || `${HOME}/.cache`;
  return home.startsWith('/') ? `${home}/kcri` : undefined;
}

/** Replaces `require` in chunks. */
function load(name) {
  if (name.startsWith('./')) return loadChunk(name.slice(2));
  return name.startsWith('node:') ? lazyModule(name) : requireOutside(name);
}

function requireOutside(name) {
  if (!outside.has(name)) outside.set(name, require(name));
  return outside.get(name);
}

/** Returns a Node.js module that is loaded on first use: loading some takes as long as a command. */
function lazyModule(name) {
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
  const loaded = chunks.get(file);
  if (loaded !== undefined) return loaded.module.exports;
  const filename = `${__dirname}/${file}`;
  const source = `(function(require,module,exports){${read(filename).bytes.latin1Slice()}\n})`;
  const script = new Script(source, {filename, cachedData: compiledCode(file)});
  // True if V8 rejected the cached data, for example of another version. Undefined if there was none.
  if (script.cachedDataRejected !== false) isCompiled = true;
  const module = {exports: {}};
  chunks.set(file, {module, script});
  script.runInThisContext()(load, module, module.exports);
  return module.exports;
}

/**
 * Returns the stored code of an earlier run, unless another user could have written it: compiled code can do anything.
 */
function compiledCode(file) {
  if (folder === undefined) return undefined;
  try {
    const {bytes, stat} = read(`${folder}/${file}`);
    return stat.uid === user && (stat.mode & 0o022) === 0 ? bytes : undefined;
  } catch {
    // Nothing is stored or readable: V8 compiles the source.
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
 * Stores compiled code for later runs. Called at the end of a run. If any chunk is new, all loaded chunks are stored
 * again, so that they contain the functions this command has called.
 */
function keepCompiled() {
  if (!isCompiled || folder === undefined) return;
  try {
    const isNew = mkdirSync(folder, {recursive: true, mode: 0o700}) !== undefined;
    for (const [file, {script}] of chunks) storeFile(`${folder}/${file}`, script.createCachedData());
    if (isNew) removeOldBuilds();
  } catch {
    // Not writable, or no space is left: the next run compiles again.
  }
}

function removeOldBuilds() {
  const isOld = (path) => statSync(path).mtimeMs < Date.now() - MAX_AGE_MS;
  const paths = readdirSync(cache).map((name) => `${cache}/${name}`);
  for (const path of paths.filter(isOld)) rmSync(path, {recursive: true, force: true});
}

/** Writes a file atomically, since V8 only checks the length of the data. */
function storeFile(file, code) {
  // Processes in different containers can have the same PID.
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
  /** Returns the files of the chunks and the names of the external modules loaded so far. */
  loaded: () => ({chunks: [...chunks.keys()], outside: [...outside.keys()]}),
};
