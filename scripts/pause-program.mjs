/**
 * Builds the pause program of each architecture from src/private-runtime/image/pause-*.s into pause-programs.ts. Needs
 * binutils and binutils-aarch64-linux-gnu. With `--check` it needs neither: it exits with 1 unless the sources and the
 * programs are those of the last build.
 */
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../src/private-runtime/image');
const OUTPUT = join(FOLDER, 'pause-programs.ts');
/** Prefixes of the tools, by architecture. */
const TOOLS = {x64: 'x86_64-linux-gnu-', arm64: 'aarch64-linux-gnu-'};
const ARCHITECTURES = Object.keys(TOOLS);

function build(architecture) {
  const scratch = mkdtempSync(join(tmpdir(), 'kcri-pause-'));
  const [object, program] = [join(scratch, 'pause.o'), join(scratch, 'pause')];
  try {
    const options = {cwd: FOLDER, stdio: 'inherit'};
    execFileSync(`${TOOLS[architecture]}as`, [`pause-${architecture}.s`, '-o', object], options);
    const sections = ['-O', 'binary', '--only-section', '.text'];
    execFileSync(`${TOOLS[architecture]}objcopy`, [...sections, object, program], options);
    return readFileSync(program, 'base64');
  } finally {
    rmSync(scratch, {recursive: true});
  }
}

/** Returns the digest of the sources and of the programs in base64. */
function digest(programs) {
  const hash = createHash('sha256').update(programs.join('\n'));
  for (const name of ['elf', ...ARCHITECTURES]) hash.update(readFileSync(join(FOLDER, `pause-${name}.s`)));
  return hash.digest('hex');
}

if (process.argv.includes('--check')) {
  const text = readFileSync(OUTPUT, 'utf8');
  const programs = [...text.matchAll(/'([\w+/=]+)'/g)].map(([, program]) => program);
  if (!text.includes(digest(programs))) {
    process.stderr.write(
      'pause-programs.ts is not built from pause-*.s: run "node scripts/pause-program.mjs"\n',
    );
    process.exitCode = 1;
  }
} else {
  const programs = ARCHITECTURES.map(build);
  const [x64, arm64] = programs;
  writeFileSync(
    OUTPUT,
    `// Built by scripts/pause-program.mjs from pause-*.s. Digest of both: ${digest(programs)}

/** Static Linux executables in base64, by \`process.arch\`. */
export const PAUSE_PROGRAMS = {
  x64: '${x64}',
  arm64:
    '${arm64}',
} as const;
`,
  );
}
