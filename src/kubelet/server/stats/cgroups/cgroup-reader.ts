import {readFileSync, readlinkSync, statSync} from 'node:fs';
import {basename} from 'node:path';
import {hasErrno} from '../../../../base/errors.js';
import {fileError} from '../../../../base/fs/files.js';
import {parseNumber} from '../../../managers/cgroups/cgroup-files.js';
import {parsePressure} from '../node-usage.js';
import type {PsiStats} from '../../../../cri/index.js';

/** Controllers whose files are read; with cgroup v1, each has a hierarchy of its own. */
export type ReadController = 'cpu' | 'cpuacct' | 'memory' | 'pids' | 'blkio';

const CONTROLLERS: readonly ReadController[] = ['cpu', 'cpuacct', 'memory', 'pids', 'blkio'];

/** Errors of files that a kernel or cgroup does not have. */
const ABSENT = ['ENOENT', 'ENOTDIR', 'ENODEV', 'EOPNOTSUPP', 'EINVAL'] as const;

/** Files of a cgroup, in one or several hierarchies. Methods throw SystemError. */
export class CgroupReader {
  readonly #directories: Readonly<Record<ReadController, string>>;
  readonly #version: 1 | 2;

  constructor(mount: string, version: 1 | 2, path: string) {
    const below = path === '/' ? '' : path;
    const directory = (name: ReadController): string => `${mount}${version === 2 ? '' : `/${name}`}${below}`;
    this.#version = version;
    this.#directories = {
      cpu: directory('cpu'),
      cpuacct: directory('cpuacct'),
      memory: directory('memory'),
      pids: directory('pids'),
      blkio: directory('blkio'),
    };
  }

  /** Returns the creation time, in ms since the epoch; undefined if the cgroup does not exist. */
  createdAtMs(): number | undefined {
    // The time of the directory changes with its children, that of this file hardly ever.
    const file = this.#version === 2 ? 'cgroup.events' : 'cgroup.clone_children';
    const times = CONTROLLERS.flatMap((name) => {
      const directory = this.#directories[name];
      return [modifiedAt(directory), modifiedAt(`${directory}/${file}`)].filter((time) => time !== undefined);
    });
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Returns the content of a file; empty if it does not exist. */
  text(controller: ReadController, file: string): string {
    const path = `${this.#directories[controller]}/${file}`;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      if (hasErrno(error, ...ABSENT)) return '';
      throw fileError('reading', path, error);
    }
  }

  /** Returns the number in a file; 0 if the file does not exist or says `max`. */
  number(controller: ReadController, file: string): bigint {
    return parseNumber(this.text(controller, file)) ?? 0n;
  }

  /** Returns the numbers of a file with a name and a number in each line; undefined if the file does not exist. */
  table(controller: ReadController, file: string): ReadonlyMap<string, bigint> | undefined {
    const text = this.text(controller, file);
    if (text === '') return undefined;
    return new Map(
      text.split('\n').flatMap((line): readonly (readonly [string, bigint])[] => {
        const [name = '', value = ''] = line.split(' ');
        const number = parseNumber(value);
        return number === undefined ? [] : [[name, number]];
      }),
    );
  }

  /** Returns the pressure stall information of a file; undefined without it. */
  pressure(file: string): PsiStats | undefined {
    return parsePressure(this.text('cpu', file));
  }
}

function modifiedAt(path: string): number | undefined {
  try {
    return statSync(path, {throwIfNoEntry: false})?.mtimeMs;
  } catch (error) {
    if (hasErrno(error, ...ABSENT)) return undefined;
    throw fileError('reading', path, error);
  }
}

/** Returns the path of a block device by its numbers, `8:0`; empty if it is unknown. */
export function devicePath(numbers: string): string {
  try {
    return `/dev/${basename(readlinkSync(`/sys/dev/block/${numbers}`))}`;
  } catch (error) {
    if (hasErrno(error, ...ABSENT)) return '';
    throw fileError('reading', `/sys/dev/block/${numbers}`, error);
  }
}
