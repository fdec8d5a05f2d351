/** Returns the path of an entry of a folder: join() for a normal path, without what Node.js compiles for others. */
export function childPath(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`;
}
