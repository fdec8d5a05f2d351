import {readdirSync, readFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {expect, test} from 'vitest';

test('each logger names the file that uses it', () => {
  const files = readdirSync('src', {recursive: true, encoding: 'utf8'}).filter((path) =>
    path.endsWith('.ts'),
  );
  const uses = files.flatMap((path) =>
    Array.from(readFileSync(join('src', path), 'utf8').matchAll(/\.forFile\('(.*?)'\)/g), ([, file]) => ({
      path,
      file,
    })),
  );
  expect(uses.length).toBeGreaterThan(10);
  for (const {path, file} of uses) expect(file, path).toBe(basename(path));
});
