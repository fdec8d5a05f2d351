import {accessSync, constants, statSync} from 'node:fs';
import {delimiter, dirname, join, resolve} from 'node:path';
import {SystemError} from '../../base/errors.js';
import {searchDirs} from '../process/search-path.js';

/** Full paths of the programs of a private runtime. */
export interface Binaries {
  readonly containerd: string;
  readonly ctr: string;
  readonly shim: string;
  /** Path of runc or crun. */
  readonly runc: string;
  readonly cniBinDir: string;
}

/** Programs to use instead of those in PATH. */
export interface BinaryChoice {
  /** A containerd, or the directory of containerd, ctr and the shim. */
  readonly containerd?: string | undefined;
  /** A runc or crun: a path, or a name to search for. */
  readonly runc?: string | undefined;
}

/** A missing program and its Debian package, unless the user chose the program. */
interface Missing {
  readonly what: string;
  readonly aptPackage?: string;
}

const CNI_DIRS = ['/opt/cni/bin', '/usr/lib/cni', '/usr/libexec/cni'];
const CNI_PLUGINS = ['bridge', 'host-local', 'loopback', 'portmap'];

/** Finds every program. Throws one SystemError that names all missing programs and their packages. */
export function findBinaries(choice: BinaryChoice, path: string): Binaries {
  const dirs = searchDirs(path);
  const containerd = containerdPath(choice.containerd, dirs);
  const besideContainerd = containerd === undefined ? dirs : [dirname(containerd), ...dirs];
  const found = {
    containerd,
    ctr: inDirs('ctr', besideContainerd),
    shim: inDirs('containerd-shim-runc-v2', besideContainerd),
    runc:
      choice.runc === undefined ? (inDirs('runc', dirs) ?? inDirs('crun', dirs)) : named(choice.runc, dirs),
    cniBinDir: CNI_DIRS.find((dir) => CNI_PLUGINS.every((plugin) => isProgram(join(dir, plugin)))),
  };
  const missing = missingOf({...found, ip: inDirs('ip', dirs)}, choice);
  if (missing.length > 0) throw missingError(missing);
  return found as Binaries;
}

/** Returns the PATH for containerd and its children: its own directory first, so that it finds its own shim. */
export function containerdSearchPath({containerd, shim}: Binaries, path: string): string {
  return [...new Set([dirname(containerd), dirname(shim), ...searchDirs(path)])].join(delimiter);
}

function missingOf(
  found: Readonly<Record<keyof Binaries | 'ip', string | undefined>>,
  choice: BinaryChoice,
): Missing[] {
  const needs: Readonly<Record<keyof typeof found, Missing>> = {
    containerd: chosen('containerd', choice.containerd) ?? {what: 'containerd', aptPackage: 'containerd'},
    ctr: {what: 'ctr', aptPackage: 'containerd'},
    shim: {what: 'containerd-shim-runc-v2', aptPackage: 'containerd'},
    runc: chosen('runc', choice.runc) ?? {what: 'runc (or crun)', aptPackage: 'runc'},
    cniBinDir: {what: `the CNI plugins ${CNI_PLUGINS.join(', ')}`, aptPackage: 'containernetworking-plugins'},
    ip: {what: 'ip', aptPackage: 'iproute2'},
  };
  return Object.entries(needs).flatMap(([key, need]) =>
    found[key as keyof typeof found] === undefined ? [need] : [],
  );
}

function chosen(flag: string, path: string | undefined): Missing | undefined {
  return path === undefined ? undefined : {what: `"${path}" (--${flag})`};
}

function missingError(missing: readonly Missing[]): SystemError {
  const packages = [...new Set(missing.flatMap(({aptPackage}) => aptPackage ?? []))];
  return new SystemError(`not installed: ${missing.map(({what}) => what).join('; ')}`, {
    hint:
      packages.length > 0
        ? `on Debian and Ubuntu: apt-get install ${packages.join(' ')}`
        : 'use the full path of an existing program',
  });
}

function containerdPath(choice: string | undefined, dirs: readonly string[]): string | undefined {
  if (choice === undefined) return inDirs('containerd', dirs);
  const path = resolve(choice);
  const program = isDirectory(path) ? join(path, 'containerd') : path;
  return isProgram(program) ? program : undefined;
}

function named(program: string, dirs: readonly string[]): string | undefined {
  if (!program.includes('/')) return inDirs(program, dirs);
  return isProgram(resolve(program)) ? resolve(program) : undefined;
}

function inDirs(program: string, dirs: readonly string[]): string | undefined {
  return dirs.map((dir) => join(dir, program)).find(isProgram);
}

function isDirectory(path: string): boolean {
  return statSync(path, {throwIfNoEntry: false})?.isDirectory() ?? false;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
