#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "core/bf16.hpp"
#include "core/text.hpp"
#include "ops/gemm_libraries.hpp"

namespace annulus::ops {

namespace {

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

template <class T>
constexpr auto type_of =
    std::is_same_v<std::remove_const_t<T>, bf16> ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;

template <class T>
dnnl::memory::desc layout_of(const Operand<T>& a) {
  const dnnl::memory::dims size{rows_of(a), columns_of(a)};
  return {size, type_of<T>, a.transposed ? dnnl::memory::dims{1, a.stride} : dnnl::memory::dims{a.stride, 1}};
}

/// A product of one shape, with its kernel compiled.
struct Product {
  dnnl::memory a, b, c;  // without data yet
  dnnl::matmul primitive;

  template <class Out>
  Product(const Operand<const bf16>& a, const Operand<const bf16>& b, Into into, const Operand<Out>& c)
      : a(layout_of(a), engine(), nullptr),
        b(layout_of(b), engine(), nullptr),
        c(layout_of(c), engine(), nullptr),
        primitive(description(a, b, into, c)) {}

  template <class Out>
  static dnnl::matmul::primitive_desc description(const Operand<const bf16>& a, const Operand<const bf16>& b, Into into,
                                                  const Operand<Out>& c) {
    dnnl::primitive_attr attributes;
    if (into == Into::add) {
      dnnl::post_ops sum;
      sum.append_sum(1.0f);
      attributes.set_post_ops(sum);
    }
    return {dnnl::matmul::desc(layout_of(a), layout_of(b), layout_of(c)), attributes, engine()};
  }
};

}  // namespace

namespace {

/// `a` without gaps between its rows.
template <class T>
Operand<const T> packed(const Operand<const T>& a) {
  thread_local std::vector<T> memory;
  memory.resize(std::max<std::size_t>(memory.size(), a.rows * a.columns));
  for (index_t r = 0; r < a.rows; ++r)
    std::memcpy(memory.data() + r * a.columns, a.data + r * a.stride, a.columns * sizeof(T));
  const Operand<const T> without_gaps(memory.data(), a.rows, a.columns, a.columns);
  return a.transposed ? transposed(without_gaps) : without_gaps;
}

/// product(a, b, into) of the operands; a sum over many rows of a tile of a wider matrix, as weight gradients are, in
/// parts whose packed rows stay in the second-level cache. oneDNN is 1.1 to 1.2 times as fast so, and its bf16 kernels
/// read a transposed matrix only without gaps. Only for results that are not rounded between the parts.
template <class T, class Product>
void over_packed_parts(const Operand<const T>& a, const Operand<const T>& b, Into into, const Product& product) {
  if (!a.transposed || a.stride == a.columns) return product(a, b, into);
  constexpr index_t part = 512;
  for (index_t first = 0; first < a.rows; first += part) {
    const index_t rows = std::min(part, a.rows - first);
    Operand<const T> a_part(a.data + first * a.stride, rows, a.columns, a.stride);
    Operand<const T> b_part = b;
    (b.transposed ? b_part.columns : b_part.rows) = rows;
    b_part.data += first * (b.transposed ? 1 : b.stride);
    product(packed(transposed(a_part)), b_part, first == 0 ? into : Into::add);
  }
}

void sgemm(const Operand<const float>& a, const Operand<const float>& b, Into into, const Operand<float>& c) {
  const auto letter = [](bool transposed) { return transposed ? 'T' : 'N'; };
  dnnl::sgemm(letter(a.transposed), letter(b.transposed), c.rows, c.columns, columns_of(a), 1.0f, a.data, a.stride,
              b.data, b.stride, into == Into::add ? 1.0f : 0.0f, c.data, c.stride);
}

template <class Out>
void bf16_product(const Operand<const bf16>& a, const Operand<const bf16>& b, Into into, const Operand<Out>& c) {
  // Finding the kernel of a shape takes longer than many a product. A thread's own table needs no lock.
  using Shape = std::array<index_t, 9>;
  thread_local std::map<Shape, Product> products;
  thread_local dnnl::stream stream(engine());
  const Shape shape{c.rows,   c.columns,    columns_of(a), a.stride,         b.stride,
                    c.stride, a.transposed, b.transposed,  into == Into::add};
  auto found = products.find(shape);
  if (found == products.end()) {
    if (products.size() >= 512) products.clear();  // lengths that vary without end must not fill the memory
    found = products.emplace(shape, Product(a, b, into, c)).first;
  }
  Product& product = found->second;
  product.a.set_data_handle(const_cast<bf16*>(a.data));
  product.b.set_data_handle(const_cast<bf16*>(b.data));
  product.c.set_data_handle(c.data);
  product.primitive.execute(stream,
                            {{DNNL_ARG_SRC, product.a}, {DNNL_ARG_WEIGHTS, product.b}, {DNNL_ARG_DST, product.c}});
}

}  // namespace

void onednn_product(const Operand<const float>& a, const Operand<const float>& b, Into into, const Operand<float>& c) {
  over_packed_parts(a, b, into, [&](const auto& a, const auto& b, Into into) { sgemm(a, b, into, c); });
}

template <class Out>
void onednn_product(const Operand<const bf16>& a, const Operand<const bf16>& b, Into into, const Operand<Out>& c) {
  if constexpr (std::is_same_v<Out, float>)
    over_packed_parts(a, b, into, [&](const auto& a, const auto& b, Into into) { bf16_product(a, b, into, c); });
  else
    bf16_product(a.transposed && a.stride > a.columns ? packed(a) : a, b, into, c);
}

template void onednn_product<float>(const Operand<const bf16>&, const Operand<const bf16>&, Into,
                                    const Operand<float>&);
template void onednn_product<bf16>(const Operand<const bf16>&, const Operand<const bf16>&, Into, const Operand<bf16>&);

namespace {
bool runs(dnnl::cpu_isa isa) {
  return (static_cast<int>(dnnl::get_effective_cpu_isa()) & static_cast<int>(isa)) == static_cast<int>(isa);
}
}  // namespace

bool onednn_has_bf16() { return runs(dnnl::cpu_isa::avx512_core); }

std::string onednn_description() {
  const std::pair<dnnl::cpu_isa, const char*> names[] = {{dnnl::cpu_isa::avx512_core_amx, "avx512_core_amx"},
                                                         {dnnl::cpu_isa::avx512_core_bf16, "avx512_core_bf16"},
                                                         {dnnl::cpu_isa::avx512_core, "avx512_core"},
                                                         {dnnl::cpu_isa::avx2, "avx2"}};
  const char* name = "sse4.1";
  for (const auto& [isa, its_name] : names)
    if (runs(isa)) {
      name = its_name;
      break;
    }
  const dnnl_version_t& version = *dnnl::version();
  return text("oneDNN ", version.major, ".", version.minor, ".", version.patch, ", ", name);
}

}  // namespace annulus::ops
