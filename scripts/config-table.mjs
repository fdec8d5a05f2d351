/**
 * docs/kubelet-config.md: every field of a KubeletConfiguration, its default, its flag, and what kcri does with it,
 * from the table in src/kubelet/kubelet-config. `--check` writes nothing and exits 1 when the page is not that.
 */
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const page = join(root, 'docs/kubelet-config.md');
const {CONFIG_FIELDS} = await import(pathToFileURL(join(root, 'dist/kubelet/kubelet-config/fields.js')).href);

const INTRO = `# The fields of a KubeletConfiguration

Made by \`scripts/config-table.mjs\` from the table in \`src/kubelet/kubelet-config\`. \`kcri kubelet --config FILE\` takes a KubeletConfiguration (kubelet.config.k8s.io/v1beta1) of Kubernetes 1.36. A field is honoured; or ignored, because it is without effect on a node without a cluster; or not supported, though a kubelet would heed it. What is set and has no effect is told at the start, and by \`--check-config\`. A field that isn't here is an error. A flag counts before the file, in which a relative path is relative to the directory of the file. SIGHUP has the files read again: some fields are taken up then, others by the next start, which the log tells; a configuration with a fault changes nothing.

Unlike a kubelet, kcri listens on loopback unless it is told otherwise, lets in nobody without a certificate or permission, and starts on a node with swap and with cgroup v1.

| field | type | default | flag | kcri |
|---|---|---|---|---|
`;

const cell = (text) => text.replaceAll('|', '\\|');
const shown = (value) =>
  value === undefined || value === '' || JSON.stringify(value) === '{}' || JSON.stringify(value) === '[]'
    ? ''
    : `\`${cell(typeof value === 'string' ? value : JSON.stringify(value))}\``;

function row([path, {type, default: fallback, flag, use, live}]) {
  const honoured = live ? 'honoured, also at SIGHUP' : 'honoured';
  const kcri = use.kind === 'honoured' ? honoured : `${use.kind}: ${cell(use.reason)}`;
  const option = flag === undefined ? '' : `\`--${flag}\``;
  return `| \`${path}\` | ${cell(type.name)} | ${shown(fallback)} | ${option} | ${kcri} |\n`;
}

const text =
  INTRO +
  Object.entries(CONFIG_FIELDS)
    .sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
    .map(row)
    .join('');

if (!process.argv.includes('--check')) writeFileSync(page, text);
else if (!existsSync(page) || readFileSync(page, 'utf8') !== text) {
  process.stderr.write(
    'docs/kubelet-config.md is stale: run "npm run build && node scripts/config-table.mjs"\n',
  );
  process.exitCode = 1;
}
