import {createHash} from 'node:crypto';

/**
 * Returns the bill of materials of a program in CycloneDX JSON. Equal input gives equal output.
 *
 * @param {object} options
 * @param {object} options.manifest package.json
 * @param {{name: string, sha256: string}} options.file the described file
 * @param {readonly import('./packages.mjs').BundledPackage[]} options.packages
 * @param {Readonly<Record<string, {integrity?: string}>>} options.locked the packages of package-lock.json by path
 * @param {Runtime} [options.runtime] the bundled runtime, if any
 * @param {number} options.time time of the sources, seconds since the epoch
 */
export function sbom({manifest, file, packages, locked, runtime, time}) {
  const program = {
    type: 'application',
    'bom-ref': purl(manifest),
    name: manifest.name,
    version: manifest.version,
    description: manifest.description,
    licenses: [{expression: manifest.license}],
    purl: purl(manifest),
    hashes: [{alg: 'SHA-256', content: file.sha256}],
    properties: [{name: 'kcri:file', value: file.name}],
  };
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {timestamp: new Date(time * 1000).toISOString(), component: program},
    components: [
      ...packages.map((part) => npmComponent(part, locked[part.path])),
      ...(runtime === undefined ? [] : [runtimeComponent(runtime)]),
    ],
    dependencies: [
      {
        ref: program['bom-ref'],
        dependsOn: [
          ...directOf(manifest, packages).map(purl),
          ...(runtime === undefined ? [] : [purl(runtime)]),
        ].sort(),
      },
      ...packages.map((part) => ({
        ref: purl(part),
        dependsOn: dependenciesOf(part, packages).map(purl).sort(),
      })),
    ],
  };
  const {bomFormat, ...rest} = bill;
  return {bomFormat, serialNumber: serialNumber(bill), ...rest};
}

/**
 * @typedef {object} Runtime
 * @property {string} name of its npm package
 * @property {string} version
 * @property {string} integrity as in package-lock.json
 * @property {readonly {name: string, license: string, url: string}[]} components
 */

function npmComponent({name, version, license}, {integrity} = {}) {
  return {
    type: 'library',
    'bom-ref': purl({name, version}),
    ...groupAndName(name),
    version,
    licenses: [{expression: license}],
    purl: purl({name, version}),
    ...(integrity === undefined ? {} : {hashes: [hashOf(integrity)]}),
  };
}

function runtimeComponent({name, version, integrity, components}) {
  return {
    type: 'platform',
    'bom-ref': purl({name, version}),
    ...groupAndName(name),
    version,
    description: 'the JavaScript runtime Bun',
    licenses: [{license: {id: 'MIT'}}],
    purl: purl({name, version}),
    hashes: [hashOf(integrity)],
    components: components.map(({name: part, license, url}) => ({
      type: 'library',
      'bom-ref': `bun:${part}`,
      name: part,
      licenses: [{license: {name: license}}],
      externalReferences: [{type: 'website', url}],
    })),
  };
}

function groupAndName(name) {
  const [group, base] = name.startsWith('@') ? name.split('/') : [undefined, name];
  return group === undefined ? {name} : {group, name: base};
}

function purl({name, version}) {
  return `pkg:npm/${name.replace(/^@/, '%40')}@${version}`;
}

/** Converts an npm integrity to a CycloneDX hash. */
function hashOf(integrity) {
  const [algorithm, digest] = integrity.split('-');
  return {alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex')};
}

/** Returns the direct dependencies, bundled or installed. */
function directOf({dependencies, devDependencies}, packages) {
  return packages.filter(
    ({name, path}) => path === `node_modules/${name}` && name in {...dependencies, ...devDependencies},
  );
}

/** Returns the dependencies of a package. Of several versions the nearest one in node_modules applies. */
function dependenciesOf(part, packages) {
  return part.dependencies.flatMap((name) => {
    const found = packages.filter(({name: other}) => other === name);
    return (
      found.find(({path}) => path.startsWith(`${part.path}/`)) ??
      found.find(({path}) => path === `node_modules/${name}`) ??
      []
    );
  });
}

/** Returns a UUID derived from the content (RFC 9562, version 8). */
function serialNumber(bill) {
  const digits = createHash('sha256').update(JSON.stringify(bill)).digest('hex');
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `a${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ];
  return `urn:uuid:${parts.join('-')}`;
}
