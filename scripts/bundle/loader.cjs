'use strict';
/*
 * Loads the chunks in the files beside this one, with the code that V8 compiled for them in earlier runs,
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
  utimesSync,
  writeFileSync,
} = require('node:fs');
const {Script} = require('node:vm');

/**
 * Defined by the bundler: the entry chunk, a hash of all chunks, and the files of chunks that share one with others.
 */
/* global ENTRY_FILE, BUILD, FILES */
const files = FILES;

const user = process.geteuid();
/**
 * Directory of compiled code of all builds, of this build, and of this installation of it: stack traces show the paths
 * that the code was compiled with. Undefined if nothing is stored.
 */
const cache = cacheFolder();
const build = cache && `${cache}/${BUILD}-${process.version}-${process.arch}`;
const folder = cache && `${build}${__dirname}`;
/** Age after which compiled code of other builds is removed: 30 days. */
const MAX_AGE_MS = 30 * 24 * 3600 * 1000;

/** Exports of loaded chunks, by name. */
const chunks = new Map();
/** Loaded files: their scripts, the names of their compiled code, and the functions of their chunks. */
const loadedFiles = new Map();
/** Modules outside the bundle, by name. */
const outside = new Map();
/** Whether V8 had to compile a file in this run. */
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

function loadChunk(name) {
  if (!chunks.has(name)) {
    const {functions} = loadFile(files[name] ?? name, name);
    functions[name](load, (exports) => chunks.set(name, exports));
  }
  return chunks.get(name);
}

/**
 * Loads a file for a chunk in it. A frequent command has compiled code of its own for the file that it shares, since V8
 * reads all of the stored code.
 */
function loadFile(file, chunk) {
  const loaded = loadedFiles.get(file);
  if (loaded !== undefined) return loaded;
  const filename = `${__dirname}/${file}`;
  const script = new Script(read(filename).bytes.latin1Slice(), {filename, cachedData: compiledCode(chunk)});
  // True if V8 rejected the cached data, for example of another version. Undefined if there was none.
  if (script.cachedDataRejected !== false) isCompiled = true;
  const opened = {script, storedAs: chunk, functions: script.runInThisContext()};
  loadedFiles.set(file, opened);
  return opened;
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
 * Stores compiled code for later runs. Called at the end of a run. If any file is new, all loaded files are stored
 * again, so that they contain the functions this command has called.
 */
function keepCompiled() {
  if (!isCompiled || folder === undefined) return;
  try {
    const isNew = mkdirSync(folder, {recursive: true, mode: 0o700}) !== undefined;
    // Its age is that of the last code stored in any installation.
    utimesSync(build, new Date(), new Date());
    for (const {script, storedAs} of loadedFiles.values())
      storeFile(`${folder}/${storedAs}`, script.createCachedData());
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
  /** Returns the names of the chunks and the names of the external modules loaded so far. */
  loaded: () => ({chunks: [...chunks.keys()], outside: [...outside.keys()]}),
};
