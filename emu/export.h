// Marks what the shared library shows.
#ifndef PALLADION_EMU_EXPORT_H_
#define PALLADION_EMU_EXPORT_H_

#define PALLADION_EXPORT __attribute__((visibility("default")))

#endif  // PALLADION_EMU_EXPORT_H_
