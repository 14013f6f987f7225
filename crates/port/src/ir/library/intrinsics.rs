//! LLVM's intrinsics.
//!
//! Of many, their declarations say that they touch no memory, or only what their arguments point at; what is here holds without
//! that, too. Fences are looked at before this table.

use super::Effect;

/// Names and what they do. A name with `*` stands for all that begin so: what follows are types.
pub const TABLE: &[(&str, Effect)] = &[
    // As atomic as what the program does to the same memory.
    ("llvm.mem*.element.unordered.atomic.*", Effect::Behind { writes: true }),
    ("llvm.memcpy.* llvm.memmove.*", Effect::Copies),
    ("llvm.memset.*", Effect::Fills),
    ("llvm.threadlocal.address.*", Effect::Returns),
    ("llvm.launder.invariant.group.* llvm.strip.invariant.group.* llvm.ptr.annotation.*", Effect::Returns),
    ("llvm.masked.load.* llvm.masked.store.* llvm.masked.gather.* llvm.masked.scatter.*", Effect::Arguments),
    ("llvm.masked.expandload.* llvm.masked.compressstore.*", Effect::Arguments),
    ("llvm.va_start* llvm.va_end* llvm.va_copy*", Effect::Arguments),
    ("llvm.trap llvm.ubsantrap", Effect::Ends),
    // For the compiler, debuggers and profilers.
    (
        "llvm.dbg.* llvm.lifetime.* llvm.invariant.* llvm.assume llvm.expect.* llvm.is.constant.* llvm.objectsize.* \
         llvm.experimental.noalias.scope.decl llvm.sideeffect llvm.donothing llvm.fake.use llvm.arithmetic.fence.* \
         llvm.var.annotation* llvm.annotation.* llvm.codeview.annotation llvm.pseudoprobe llvm.instrprof.* \
         llvm.type.test llvm.public.type.test llvm.allow.* llvm.ssa.copy.* llvm.debugtrap",
        Effect::None,
    ),
    // The stack, the instruction, the processor.
    (
        "llvm.stacksave* llvm.stackrestore* llvm.returnaddress llvm.frameaddress* llvm.addressofreturnaddress* \
         llvm.sponentry* llvm.localescape llvm.localrecover llvm.eh.* llvm.prefetch* llvm.clear_cache \
         llvm.readcyclecounter llvm.readsteadycounter llvm.thread.pointer* llvm.vscale.* llvm.flt.rounds \
         llvm.get.rounding llvm.set.rounding llvm.x86.sse.sfence llvm.x86.sse2.lfence llvm.x86.sse2.pause",
        Effect::None,
    ),
    // Whole numbers.
    (
        "llvm.bswap.* llvm.bitreverse.* llvm.ctpop.* llvm.ctlz.* llvm.cttz.* llvm.fshl.* llvm.fshr.* llvm.abs.* \
         llvm.smax.* llvm.smin.* llvm.umax.* llvm.umin.* llvm.scmp.* llvm.ucmp.* llvm.ptrmask.* \
         llvm.sadd.* llvm.uadd.* llvm.ssub.* llvm.usub.* llvm.smul.* llvm.umul.* llvm.sdiv.* llvm.udiv.* \
         llvm.sshl.* llvm.ushl.* llvm.vector.reduce.* llvm.vector.insert.* llvm.vector.extract.*",
        Effect::None,
    ),
    // Others.
    (
        "llvm.fabs.* llvm.sqrt.* llvm.pow.* llvm.powi.* llvm.sin.* llvm.cos.* llvm.tan.* llvm.exp.* llvm.exp2.* \
         llvm.exp10.* llvm.ldexp.* llvm.frexp.* llvm.log.* llvm.log2.* llvm.log10.* llvm.fma.* llvm.fmuladd.* \
         llvm.minnum.* llvm.maxnum.* llvm.minimum.* llvm.maximum.* llvm.copysign.* llvm.canonicalize.* llvm.floor.* \
         llvm.ceil.* llvm.trunc.* llvm.rint.* llvm.nearbyint.* llvm.round.* llvm.roundeven.* llvm.lround.* \
         llvm.llround.* llvm.lrint.* llvm.llrint.* llvm.is.fpclass.* llvm.fptosi.* llvm.fptoui.* llvm.convert.*",
        Effect::None,
    ),
];
