// `npm run demo` and `npm test`: prepares a fresh machine, which needs only Node.js, npm and root, and runs the demo or
// the tests. It runs before `npm ci` and thus uses no packages. A second run skips what is already done.
// Usage: node scripts/bootstrap.mjs demo|test|test:full|test:cluster|test:vm|test:binary|ci [arguments for vitest…]
const REQUIRED = [20, 19];

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < REQUIRED[0] || (major === REQUIRED[0] && minor < REQUIRED[1])) {
  process.stderr.write(
    `kcri needs Node.js ${REQUIRED.join('.')} or newer, but this is ${process.versions.node}: install a newer version and try again.\n`,
  );
  process.exitCode = 1;
} else {
  // Imported dynamically, since an older Node.js cannot parse it.
  const {main} = await import('./bootstrap/main.mjs');
  process.exitCode = await main(process.argv.slice(2));
}
