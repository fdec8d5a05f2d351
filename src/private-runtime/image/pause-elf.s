/* The headers of a static executable: one segment, the whole file, readable and executable. */
        .set base, 0x400000
file:   .byte 0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0 /* ELF, 64 bit, little endian, version 1 */
        .quad 0
        .short 2, machine               /* an executable */
        .long 1
        .quad base + start - file       /* entry point */
        .quad segment - file, 0         /* where the program header is; no sections */
        .long 0
        .short segment - file, start - segment, 1, 0, 0, 0
segment:
        .long 1, 5                      /* loaded; read + execute */
        .quad 0, base, base
        .quad end - file, end - file
        .quad 0x10000                   /* alignment: the largest page size of arm64 */
start:
