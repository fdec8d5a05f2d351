import {readFileSync} from 'node:fs';
import {Spec, Validation} from '@cyclonedx/cyclonedx-library';
import {expect, test} from 'vitest';
import {notices, listPackages} from '../../../scripts/release/packages.mjs';
import {sbom, type Described} from '../../../scripts/release/sbom.mjs';

const ROOT = process.cwd();
const load = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const PACKAGES = listPackages(ROOT, [
  'src/program/main.ts',
  'node_modules/ws/lib/sender.js',
  'node_modules/cli-table3/src/table.js',
  'node_modules/cli-table3/src/cell.js',
  'node_modules/@colors/colors/safe.js',
]);

/** Returns the bill of materials of the packages in node_modules. */
const aBill = (more: Partial<Described> = {}) =>
  sbom({
    manifest: load('package.json') as Described['manifest'],
    file: {name: 'kcri.tar.gz', sha256: '0'.repeat(64)},
    packages: PACKAGES,
    locked: (load('package-lock.json') as {packages: Described['locked']}).packages,
    runtime: {
      name: '@oven/bun',
      version: '1.2.3',
      integrity: `sha512-${Buffer.alloc(64, 1).toString('base64')}`,
      components: load('scripts/release/bun-components.json') as [],
    },
    time: 1_700_000_000,
    ...more,
  });

test('a bill of materials conforms to CycloneDX', async () => {
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  expect(await validator.validate(JSON.stringify(aBill()))).toBeNull();
  expect(
    await validator.validate(JSON.stringify({...aBill(), components: [{name: 'typeless'}]})),
  ).not.toBeNull();
});

test('each package is listed once, with its hash and its scope', () => {
  const {components, dependencies} = aBill();
  const [colors, table, ws, bun] = components;
  expect(components).toHaveLength(4);
  expect([colors?.group, colors?.name]).toEqual(['@colors', 'colors']);
  expect(colors?.['bom-ref']).toMatch(/^pkg:npm\/%40colors\/colors@1\./);
  expect(table?.hashes?.map(({alg}) => alg)).toEqual(['SHA-512']);
  expect(table?.hashes?.[0]?.content).toMatch(/^[\da-f]{128}$/);
  expect(bun).toMatchObject({group: '@oven', name: 'bun', version: '1.2.3'});
  expect(dependencies[0]?.dependsOn).toEqual([bun, table, ws].map((part) => part?.['bom-ref']));
  expect(dependencies.find(({ref}) => ref === table?.['bom-ref'])?.dependsOn).toEqual([colors?.['bom-ref']]);
});

test('the serial number depends only on the content', () => {
  expect(aBill()).toEqual(aBill());
  expect(aBill({time: 1}).serialNumber).not.toBe(aBill().serialNumber);
});

test('the notices contain the text of each license', () => {
  const text = notices(ROOT, PACKAGES);
  for (const {name, version} of PACKAGES) expect(text).toContain(`\n${name} ${version} (`);
  expect(text.match(/Permission is hereby granted/g)).toHaveLength(PACKAGES.length);
});
