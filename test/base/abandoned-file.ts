/** Name of a temporary file whose writer does not run; no boot has this ID. */
export const ABANDONED_FILE = '.kcri-1@1@00000000.0a1b2c3d4e5f.tmp';
