/** Returns the response to an ExecSync, by default of a successful command without output. */
export function execResponse({exitCode = 0, stdout = '', stderr = ''} = {}) {
  return {exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr)};
}
