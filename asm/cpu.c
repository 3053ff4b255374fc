/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.c - what this machine's CPU can do, and which line it belongs to
 *
 * x86-64 by CPUID (a bit counts only if the system saves the registers it
 * needs: XGETBV), aarch64 by the hwcap vector and MIDR_EL1, which Linux lets
 * user space read where HWCAP_CPUID is set.  Sources: Intel SDM volume 2,
 * CPUID; AMD APM volume 3, appendix E; Arm ARM, MIDR_EL1; the kernel's
 * Documentation/arch/arm64/cpu-feature-registers.rst.
 */
#include "kernel.h"

#if defined(__x86_64__)

#include <cpuid.h>

#define LEAF1_ECX_SSSE3		(1u << 9)
#define LEAF1_ECX_OSXSAVE	(1u << 27)
#define LEAF1_ECX_AVX		(1u << 28)
#define LEAF7_EBX_AVX2		(1u << 5)
#define LEAF7_EBX_BMI2		(1u << 8)
#define LEAF7_EBX_AVX512	(1u << 16 | 1u << 30 | 1u << 31) /* F, BW, VL */
#define XCR0_YMM		0x06u	/* SSE and AVX state */
#define XCR0_ZMM		0xe6u	/* and opmask, both ZMM halves */

static uint32_t xcr0_read(void)
{
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

static uint32_t bits_read(void)
{
	uint32_t a, b, c, d, have = 0, saved = 0;
	uint32_t b7 = 0, c7, d7;

	if (!__get_cpuid(1, &a, &b, &c, &d))
		return 0;
	if (c & LEAF1_ECX_SSSE3)
		have |= CPU_SSSE3;
	if (c & LEAF1_ECX_OSXSAVE)
		saved = xcr0_read();
	if (!__get_cpuid_count(7, 0, &a, &b7, &c7, &d7))
		return have;
	if (b7 & LEAF7_EBX_BMI2)
		have |= CPU_BMI2;
	if ((c & LEAF1_ECX_AVX) && (b7 & LEAF7_EBX_AVX2) &&
	    (saved & XCR0_YMM) == XCR0_YMM)
		have |= CPU_AVX2;
	if ((b7 & LEAF7_EBX_AVX512) == LEAF7_EBX_AVX512 &&
	    (saved & XCR0_ZMM) == XCR0_ZMM)
		have |= CPU_AVX512;
	return have;
}

#define VENDOR(b, d, c, b_, d_, c_) ((b) == (b_) && (d) == (d_) && (c) == (c_))

/* Vendor strings as CPUID gives them, in EBX EDX ECX. */
static enum cpu_line line_read(void)
{
	uint32_t a, b, c, d, eax = 0, ignore, family;

	if (!__get_cpuid(0, &a, &b, &c, &d) ||
	    !__get_cpuid(1, &eax, &ignore, &ignore, &ignore))
		return CPU_LINE_ANY;
	family = (eax >> 8 & 15) + (eax >> 20 & 255);
	if (VENDOR(b, d, c, 0x756e6547, 0x49656e69, 0x6c65746e)) /* GenuineIntel */
		return CPU_LINE_INTEL;
	if (VENDOR(b, d, c, 0x68747541, 0x69746e65, 0x444d4163) || /* AuthenticAMD */
	    VENDOR(b, d, c, 0x6f677948, 0x6e65476e, 0x656e6975))   /* HygonGenuine */
		return family >= 0x17 ? CPU_LINE_ZEN : CPU_LINE_ANY;
	return CPU_LINE_ANY;
}

struct cpu cpu_read(void)
{
	return (struct cpu){ bits_read(), line_read() };
}

#elif defined(__aarch64__) && defined(__linux__)

#include <sys/auxv.h>

#define HWCAP_ASIMD_BIT	(1ul << 1)
#define HWCAP_CPUID_BIT	(1ul << 11)

#define MIDR_IMPLEMENTER(m)	((m) >> 24 & 0xff)
#define MIDR_PART(m)		((m) >> 4 & 0xfff)
#define IMPLEMENTER_ARM		0x41

/* Neoverse N1, V1, N2, V2, V3 (and V3AE), N3: part numbers from Arm's TRMs. */
static const uint16_t neoverse[] = {
	0xd0c, 0xd40, 0xd49, 0xd4f, 0xd83, 0xd84, 0xd8e,
};

static enum cpu_line line_read(unsigned long hwcap)
{
	uint64_t midr;

	if (!(hwcap & HWCAP_CPUID_BIT))
		return CPU_LINE_ANY;
	__asm__("mrs %0, midr_el1" : "=r"(midr));
	if (MIDR_IMPLEMENTER(midr) != IMPLEMENTER_ARM)
		return CPU_LINE_ANY;
	for (size_t i = 0; i < sizeof(neoverse) / sizeof(neoverse[0]); i++)
		if (MIDR_PART(midr) == neoverse[i])
			return CPU_LINE_NEOVERSE;
	return CPU_LINE_ANY;
}

struct cpu cpu_read(void)
{
	unsigned long hwcap = getauxval(AT_HWCAP);

	return (struct cpu){
		hwcap & HWCAP_ASIMD_BIT ? CPU_NEON : 0, line_read(hwcap)
	};
}

#else

struct cpu cpu_read(void)
{
	return (struct cpu){ 0, CPU_LINE_ANY };
}

#endif
