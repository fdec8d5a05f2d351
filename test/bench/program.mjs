// A program that a benchmark runs. Every wait for it ends: with what it waits for, with the end of the program, or with a deadline.
import {spawn} from 'node:child_process';

/** Length of the end of the program's errors that a failure quotes. */
const QUOTED = 1000;
/** Time for a program to end by itself, in s. */
const END_SECONDS = 20;

/** Resolves like the promise. Rejects after a number of seconds with an error that says what was waited for. */
export async function within(seconds, what, promise) {
  const deadline = AbortSignal.timeout(seconds * 1000);
  // The timer of the signal alone lets the process end.
  const alive = setInterval(() => undefined, 1000);
  try {
    return await Promise.race([
      promise,
      new Promise((_resolve, reject) => {
        deadline.addEventListener('abort', () => {
          reject(new Error(`waited ${seconds} s in vain for ${what}`));
        });
      }),
    ]);
  } finally {
    clearInterval(alive);
  }
}

/** A program that was started, its output and its end. */
export class Program {
  #name;
  #child;
  #ended;
  #output = '';
  #errors = '';
  #lines = [];

  /** Starts a program, with a text as its standard input. */
  constructor(name, [file, ...args], {env = process.env, input = ''} = {}) {
    this.#name = name;
    this.#child = spawn(file, args, {env, stdio: ['pipe', 'pipe', 'pipe']});
    this.#child.stdin.on('error', () => undefined); // it has ended, which `ended` tells
    this.#child.stdin.end(input);
    this.#child.stdout.on('data', (data) => {
      this.#output += data;
      for (const resolve of this.#output.includes('\n') ? this.#lines.splice(0) : [])
        resolve(this.#output.slice(0, this.#output.indexOf('\n')));
    });
    this.#child.stderr.on('data', (data) => (this.#errors = `${this.#errors}${data}`.slice(-QUOTED)));
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', ({message}) => {
        resolve(message);
      });
      this.#child.once('close', (code, signal) => {
        resolve(code === 0 ? undefined : `ended with ${signal ?? code}: ${this.#errors.trim()}`);
      });
    });
  }

  get pid() {
    return this.#child.pid;
  }

  /** Resolves with the first line of the output. Rejects if the program ends before, or after a number of seconds. */
  async firstLine(seconds, what) {
    const line = new Promise((resolve) => {
      this.#lines.push(resolve);
    });
    return await within(seconds, `${what} of ${this.#name}`, this.during(line));
  }

  /** Resolves like the promise. Rejects if the program ends before. */
  async during(promise) {
    return await Promise.race([promise, this.#endedEarly()]);
  }

  async #endedEarly() {
    throw new Error(`${this.#name} ${(await this.#ended) ?? 'ended too early'}`);
  }

  /** Resolves when the program ends with success. Rejects if it fails, or after a number of seconds. */
  async succeed(seconds) {
    const failure = await within(seconds, `the end of ${this.#name}`, this.#ended);
    if (failure !== undefined) throw new Error(`${this.#name} ${failure}`);
  }

  /** Interrupts the program. Rejects if it fails or does not end. */
  async stop() {
    this.#child.kill('SIGINT');
    await this.succeed(END_SECONDS);
  }

  /** Kills the program if it still runs. */
  kill() {
    this.#child.kill('SIGKILL');
  }
}
