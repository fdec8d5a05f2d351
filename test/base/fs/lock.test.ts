import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {lchown, lstat, mkdtemp, readFile, readlink, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {SystemError} from '../../../src/base/errors.js';
import {acquireLock} from '../../../src/base/fs/lock.js';
import {temporaryDirectory} from '../temporary-directory.js';
import {timeBudget} from '../time-budget.js';
import {transpile} from '../transpile.js';
import {until} from '../until.js';

let modules: string;

const PROGRAMS = {
  /** Holds the lock until it is killed. */
  hold: `
    import {acquireLock} from './base/fs/lock.js';
    await acquireLock(process.argv[2]);
    console.log('held');
    setInterval(() => {}, 1000);
  `,
  /** Takes the lock repeatedly and logs whether it was the only holder. It may exit without releasing the lock. */
  contend: `
    import {appendFileSync, mkdirSync, rmdirSync} from 'node:fs';
    import {setTimeout as sleep} from 'node:timers/promises';
    import {acquireLock} from './base/fs/lock.js';
    const [path, rounds, log, end] = process.argv.slice(2);
    for (let round = 1; round <= Number(rounds); round++) {
      const lock = await acquireLock(path);
      try {
        mkdirSync(path + '.inside');
        await sleep(1);
        rmdirSync(path + '.inside');
        appendFileSync(log, 'alone\\n');
      } catch (error) {
        appendFileSync(log, error.code + '\\n');
      }
      if (end === 'die' && round === Number(rounds)) process.kill(process.pid, 'SIGKILL');
      await lock[Symbol.asyncDispose]();
    }
  `,
} as const;

beforeAll(async () => {
  modules = await mkdtemp(join(tmpdir(), 'kcri-lock-'));
  await transpile('base/fs/lock', modules);
  for (const [name, program] of Object.entries(PROGRAMS))
    await writeFile(join(modules, `${name}.js`), program);
});
afterAll(async () => {
  await rm(modules, {recursive: true});
});

function run(program: keyof typeof PROGRAMS, ...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [join(modules, `${program}.js`), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

async function holder(path: string): Promise<ChildProcess> {
  const child = run('hold', path);
  await once(createInterface({input: child.stdout!}), 'line');
  return child;
}

test('a released lock can be acquired again and leaves no file', async () => {
  const path = join(await temporaryDirectory(), 'lock');
  {
    await using first = await acquireLock(path);
    expect(first.path).toBe(path);
    expect(await readlink(path)).toMatch(new RegExp(`^${process.pid}@`));
  }
  await using second = await acquireLock(path);
  await second[Symbol.asyncDispose]();
  await expect(readlink(path)).rejects.toThrow('ENOENT');
});

test('a lock that another process holds after its link was removed by hand is not released', async () => {
  const path = join(await temporaryDirectory(), 'a.lock');
  const lock = await acquireLock(path);
  const other = `${await readlink(path)}0`;
  await rm(path);
  await symlink(other, path);
  await lock[Symbol.asyncDispose]();
  expect(await readlink(path)).toBe(other);
});

test('a lock whose link has got another owner is released', async () => {
  const path = join(await temporaryDirectory(), 'a.lock');
  const lock = await acquireLock(path);
  const {uid, gid, ctimeNs} = await lstat(path, {bigint: true});
  // Changes the time of the last change also if the owner stays the same.
  await until(async () => {
    await lchown(path, Number(uid), Number(gid));
    return (await lstat(path, {bigint: true})).ctimeNs !== ctimeNs;
  });
  await lock[Symbol.asyncDispose]();
  await expect(readlink(path)).rejects.toThrow('ENOENT');
});

test('a second caller waits for the first, is notified once, and then gets the lock', async () => {
  const path = join(await temporaryDirectory(), 'lock');
  const first = await acquireLock(path);
  const notified: number[] = [];
  let taken = false;
  const second = acquireLock(path, {onWait: (pid) => notified.push(pid)}).then((lock) => {
    taken = true;
    return lock;
  });
  await until(() => notified.length > 0);
  expect({taken, notified}).toEqual({taken: false, notified: [process.pid]});
  await first[Symbol.asyncDispose]();
  await (await second)[Symbol.asyncDispose]();
});

test('an abort ends the wait with its reason', async () => {
  const path = join(await temporaryDirectory(), 'lock');
  await using held = await acquireLock(path);
  const controller = new AbortController();
  const waiting = acquireLock(held.path, {signal: controller.signal});
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});

test('an aborted signal acquires no held lock', async () => {
  const path = join(await temporaryDirectory(), 'lock');
  await using held = await acquireLock(path);
  await expect(acquireLock(held.path, {signal: AbortSignal.abort(new Error('no'))})).rejects.toThrow('no');
});

test('the lock of a killed process is free immediately', async () => {
  const path = join(await temporaryDirectory(), 'lock');
  const child = await holder(path);
  const notified: number[] = [];
  const waiting = acquireLock(path, {onWait: (pid) => notified.push(pid)});
  await until(() => notified.length > 0);
  child.kill('SIGKILL');
  await using lock = await waiting;
  expect(lock.path).toBe(path);
  expect(notified).toEqual([child.pid]);
});

test.each([
  ['whose PID was reused', `${process.pid}@1@00000000-0000-0000-0000-000000000000`],
  ['that has exited', '4194304@1@00000000-0000-0000-0000-000000000000'],
])('the lock of a holder %s is stale', async (_title, target) => {
  const path = join(await temporaryDirectory(), 'lock');
  await symlink(target, path);
  await using lock = await acquireLock(path);
  expect(await readlink(lock.path)).not.toBe(target);
});

test('a holder from an earlier boot is stale even if its PID and start time match', async () => {
  const path = join(await temporaryDirectory(), 'lock');
  const earlier = await acquireLock(path);
  const [pid, startTime] = (await readlink(path)).split('@');
  await earlier[Symbol.asyncDispose]();
  await symlink(`${pid}@${startTime}@00000000-0000-0000-0000-000000000000`, path);
  await using lock = await acquireLock(path, {signal: AbortSignal.timeout(timeBudget(300_000))});
  expect(await readlink(lock.path)).not.toContain('@00000000-');
});

test.each([
  ['a file', async (path: string) => writeFile(path, 'mine')],
  ['a foreign link', async (path: string) => symlink('/etc/passwd', path)],
])('%s in place of a lock is rejected and kept', async (_title, place) => {
  const path = join(await temporaryDirectory(), 'lock');
  await place(path);
  await expect(acquireLock(path)).rejects.toThrow(SystemError);
  await expect(acquireLock(path)).rejects.toThrow('is not a lock');
});

test('a missing directory is created', async () => {
  const path = join(await temporaryDirectory(), 'none', 'lock');
  await using lock = await acquireLock(path);
  expect(await readlink(lock.path)).toMatch(/^\d+@/);
});

test('a directory that cannot be created is named in the error', async () => {
  const file = join(await temporaryDirectory(), 'file');
  await writeFile(file, '');
  await expect(acquireLock(join(file, 'locks', 'a'))).rejects.toThrow(
    `creating the directory "${file}/locks": not a directory`,
  );
});

test('of many processes only one holds the lock at a time, even when holders are killed', async () => {
  const directory = await temporaryDirectory();
  const [path, log] = [join(directory, 'lock'), join(directory, 'log')];
  const contenders = [...Array(8).keys()].map((index) =>
    run('contend', path, '6', log, index % 2 === 0 ? 'die' : 'release'),
  );
  await Promise.all(contenders.map((child) => once(child, 'exit')));
  const lines = (await readFile(log, 'utf8')).trim().split('\n');
  expect(lines).toEqual(Array(8 * 6).fill('alone'));
});

test('many waiters in one process break a stale lock and then take turns', async () => {
  const path = join(await temporaryDirectory(), 'lock');
  await symlink('4194304@1@00000000-0000-0000-0000-000000000000', path);
  let inside = 0;
  let most = 0;
  const takeTurn = async (): Promise<void> => {
    const lock = await acquireLock(path);
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setTimeout(resolve, 1));
    inside--;
    await lock[Symbol.asyncDispose]();
  };
  await Promise.all(Array.from({length: 10}, takeTurn));
  expect({most, inside}).toEqual({most: 1, inside: 0});
});
