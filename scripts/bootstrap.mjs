// `npm run demo` and `npm test`: makes a fresh machine ready (only Node.js, npm and root are needed), then runs
// the demo or the tests. It runs before `npm ci`, so it depends on nothing. A second run finds all done.
// Usage: node scripts/bootstrap.mjs demo|test|test:full|test:binary|ci [arguments for vitest…]
const WANTED = [20, 19];

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < WANTED[0] || (major === WANTED[0] && minor < WANTED[1])) {
  process.stderr.write(
    `kcri needs Node.js ${WANTED.join('.')} or newer and this is ${process.versions.node}: install a newer one and run the command again.\n`,
  );
  process.exitCode = 1;
} else {
  // Loaded only now: an older Node.js could not even read it.
  const {main} = await import('./bootstrap/main.mjs');
  process.exitCode = await main(process.argv.slice(2));
}
