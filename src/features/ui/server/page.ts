import {extname} from 'node:path';
import {gunzipSync} from 'node:zlib';
import type {UiFile} from './ui-request.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

/** The files of the page, read when the first one is requested. */
export class Page {
  readonly #read: () => Promise<ReadonlyMap<string, Buffer>>;
  #files: Promise<ReadonlyMap<string, UiFile>> | undefined;

  /** `read` returns the files, compressed with gzip, by name. */
  constructor(read: () => Promise<ReadonlyMap<string, Buffer>>) {
    this.#read = read;
  }

  /** Returns a file by its name; undefined without one. Rejects with the error of reading them; the next call reads again. */
  async find(name: string): Promise<UiFile | undefined> {
    this.#files ??= this.#open();
    try {
      return (await this.#files).get(name);
    } catch (error) {
      this.#files = undefined;
      throw error;
    }
  }

  async #open(): Promise<ReadonlyMap<string, UiFile>> {
    const files = [...(await this.#read())];
    return new Map(
      files.map(([name, gzipped]) => {
        const type = TYPES[extname(name)] ?? 'application/octet-stream';
        return [name, {type, plain: gunzipSync(gzipped), gzipped}];
      }),
    );
  }
}
